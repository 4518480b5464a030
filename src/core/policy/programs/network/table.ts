import { judgeCurl, judgeWget, WGET_OPTIONS } from './fetch.js';
import {
  judgeCloud,
  judgeFileTransfer,
  judgeRemoteCopy,
  judgeSender,
  judgeSocat,
  RSYNC_OPTIONS,
  SCP_OPTIONS,
} from './judge.js';
import { each, type ProgramTable, valued } from '../../subject/program-spec.js';

/** Programs that communicate with other machines. */
export const SPECS: ProgramTable = {
  curl: { class: 'network', operands: 'text', judge: judgeCurl },
  wget: {
    class: 'network',
    operands: 'text',
    options: WGET_OPTIONS,
    judge: judgeWget,
  },
  ...each('http https xh', {
    class: 'network',
    operands: 'text',
    options: { ...each('-o --output', { value: 'write' }) },
    judge: (subject) => {
      judgeSender(subject);
      if (subject.args.some(({ shape }) => /^[^=:@/]*(?::?=)?@./.test(shape)))
        subject.add('exfiltration', `${subject.program ?? 'it'} sends a file`);
      if (subject.args.some(({ shape }) => shape === 'DELETE'))
        subject.add('destructive', `${subject.program ?? 'it'} deletes remote data`);
    },
  }),
  aria2c: {
    class: 'network',
    operands: 'text',
    options: { ...each('-d -o --dir --out', { value: 'write' }), '--on-download-complete': { value: 'code' } },
  },
  ...each('ping ping6 dig nslookup host whois traceroute tracepath mtr arp arping ipcalc', {
    class: 'network',
    operands: 'text',
    judge: judgeSender,
  }),
  nmap: {
    class: 'network',
    operands: 'text',
    judge: judgeSender,
    options: {
      ...each('--script --datadir', { class: 'obfuscated', reason: 'may run code', value: 'text' }),
      '--interactive': { class: 'obfuscated', reason: 'may run code' },
    },
  },
  socat: { class: 'network', operands: 'text', judge: judgeSocat },
  ...each('nc ncat netcat telnet', {
    class: 'network',
    operands: 'text',
    options: {
      ...each('-e -c --exec --sh-exec', {
        class: 'obfuscated',
        reason: 'connects a program to another machine',
        value: 'shell',
      }),
      ...each('-l --listen', { class: 'exfiltration', reason: 'accepts connections from other machines' }),
    },
    judge: judgeSender,
  }),
  scp: { class: 'network', operands: 'text', options: SCP_OPTIONS, judge: judgeRemoteCopy },
  rsync: { class: 'network', operands: 'text', options: RSYNC_OPTIONS, judge: judgeRemoteCopy },
  sftp: {
    class: 'network',
    operands: 'text',
    options: {
      ...each('-b -D', { class: 'obfuscated', reason: 'runs commands that cannot be judged', value: 'text' }),
      ...each('-o -F -S', { class: 'obfuscated', reason: 'may run programs on this machine', value: 'text' }),
      ...valued('-B -c -i -J -l -P -R -s -X'),
    },
    judge: judgeFileTransfer,
  },
  ...each('ftp lftp ncftp tftp smbclient', {
    class: 'network',
    operands: 'text',
    options: each('-c -e -f', {
      class: 'obfuscated',
      reason: 'runs commands that cannot be judged',
      value: 'text',
    }),
    judge: judgeFileTransfer,
  }),
  ...each('mail mailx sendmail mutt msmtp swaks', { class: 'exfiltration', reason: 'sends mail', operands: 'text' }),
  ...each('gh glab hub', {
    class: 'network',
    operands: 'text',
    judge: (subject) => {
      if (subject.args.some(({ shape }) => /^(?:-X|--method=)?DELETE$/i.test(shape)))
        subject.add('destructive', 'deletes remote data');
    },
    subcommands: {
      ...each('gist', { class: 'exfiltration', reason: 'publishes files', operands: 'text' }),
      ...each('auth secret ssh-key gpg-key', {
        class: 'exfiltration',
        reason: 'handles credentials',
        operands: 'text',
      }),
      ...each('repo release', {
        class: 'network',
        operands: 'text',
        subcommands: {
          ...each('delete archive rename', { class: 'destructive', operands: 'text' }),
          create: {
            class: 'network',
            operands: 'text',
            options: each('--push --source', { class: 'exfiltration', reason: 'publishes files' }),
          },
        },
      }),
      config: {
        class: 'network',
        operands: 'text',
        subcommands: each('set', { class: 'persistence', reason: 'changes which programs it runs', operands: 'text' }),
      },
      ...each('alias extension', { class: 'obfuscated', reason: 'may run any program', operands: 'text' }),
    },
  }),
  ...each(
    'aws gcloud gsutil az oci doctl flyctl fly heroku vercel netlify wrangler rclone vault consul etcdctl nomad',
    {
      class: 'network',
      operands: 'text',
      judge: judgeCloud,
    },
  ),
  openssl: {
    class: 'execute',
    operands: 'text',
    judge: (subject) => {
      subject.args.forEach(({ shape }, index, args) => {
        const next = args[index + 1];
        if (/^-(?:WWW|HTTP)$/.test(shape)) subject.add('exfiltration', 'openssl serves files to other machines');
        if (next && /^-(?:in|key|inkey|cert)$/.test(shape)) subject.read(next);
        if (/^-(?:engine|provider|provider-path)$/.test(shape))
          subject.add('obfuscated', `openssl ${shape} loads code`);
        if (!next || !/^-(?:out|keyout|writerand)$/.test(shape)) return;
        subject.write(next);
        subject.noteWritten(next);
      });
    },
    subcommands: each('s_client s_server s_time', { class: 'network', operands: 'text', judge: judgeSender }),
  },
  ...each('ssh-copy-id', { class: 'persistence', reason: 'grants access to another machine' }),
  'ssh-keygen': {
    class: 'write',
    operands: 'text',
    options: {
      ...each('-f', { value: 'write' }),
      '-D': { class: 'obfuscated', reason: 'loads code', value: 'text' },
      ...valued('-t -b -C -N -P -m'),
    },
  },
  'ssh-add': {
    class: 'execute',
    operands: 'text',
    options: each('-s', { class: 'obfuscated', reason: 'loads code', value: 'text' }),
  },
  ...each('croc wormhole magic-wormhole ffsend transfer', {
    class: 'exfiltration',
    reason: 'sends files to others',
    operands: 'text',
    subcommands: each('receive --help --version', { class: 'network', operands: 'text' }),
  }),
  ...each('wireshark tshark', {
    class: 'privilege',
    reason: 'records the network',
    operands: 'text',
    options: { '-X': { class: 'obfuscated', reason: 'loads code', value: 'text' }, '-w': { value: 'write' } },
  }),
  ...each('httpd', { class: 'exfiltration', reason: 'serves files to other machines', operands: 'text' }),
  ...each('serve http-server live-server ttyd gotty wetty', {
    class: 'exfiltration',
    reason: 'lets other machines reach this one',
    operands: 'text',
  }),
  tailscale: {
    class: 'privilege',
    reason: 'changes the network of the machine',
    operands: 'text',
    subcommands: {
      ...each('status ip version ping netcheck whois', { class: 'read', operands: 'text' }),
      ...each('funnel serve file ssh', { class: 'exfiltration', reason: 'reaches other machines', operands: 'text' }),
    },
  },
  ...each('ngrok cloudflared localtunnel lt bore', {
    class: 'exfiltration',
    reason: 'makes this machine reachable for others',
    operands: 'text',
  }),
};
