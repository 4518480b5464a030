import {
  type ProgramExamples,
  type ProgramFamily,
  typedCode,
  unless,
  upTo,
  type WrapperSpec,
  type WrapperTable,
} from '../program-family.js';
import { TRIVIAL_PROGRAM } from '../subject/assignments.js';
import { each, type ProgramTable, valued } from '../subject/program-spec.js';
import {
  judgeCloud,
  judgeCurl,
  judgeFileTransfer,
  judgeRemoteCopy,
  judgeSender,
  judgeSocat,
  judgeWget,
  RSYNC_OPTIONS,
  SCP_OPTIONS,
  WGET_OPTIONS,
} from './network-fetch.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  write: ['ssh-keygen -f key'],
  execute: ['openssl rand -hex 8', 'ssh-add x', 'ssh-agent ls'],
  network: [
    'curl example.org',
    'wget example.org',
    'http example.org',
    'aria2c example.org',
    'dig example.org',
    'nmap example.org',
    'scp host:x .',
    'rsync host:x .',
    'gh pr list',
    'aws s3 ls',
    'ssh host ls',
    'sshpass -p x ssh host ls',
  ],
  interactive: ['ssh host', 'ftp host', 'sftp host', 'mosh', 'mosh-client'],
  privilege: ['tshark -i any'],
  destructive: ['wget --method=DELETE example.org', 'mosh host rm x'],
  persistence: ['ssh-copy-id host'],
  exfiltration: [
    'croc send x',
    'ttyd bash',
    'tailscale funnel 80',
    'nc -l 80',
    'httpd -h .',
    'mail x@example.org',
    'ngrok http 80',
  ],
  obfuscated: ["socat - EXEC:'rm x'", "lftp -e 'put x' host"],
};

/** Programs that communicate with other machines. */
const SPECS: ProgramTable = {
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

/** Settings of ssh that run no program and write no file. Source: ssh_config(5). */
const SSH_SETTING =
  /^(?:(?:AddressFamily|BatchMode|Ciphers|Compression|Connect\w+|Host(?:Key|Name)\w*|IdentitiesOnly|Kex\w+|LogLevel|MACs|NumberOfPasswordPrompts|P(?:assword|ubkey)Authentication|Port|Preferred\w+|RequestTTY|ServerAlive\w+|StrictHostKeyChecking|TCPKeepAlive|User)[= ][\w.,@+:-]+|(?:Global|User)KnownHostsFile[= ]\/dev\/null)$/i;

const ssh: WrapperSpec = {
  class: 'network',
  reason: 'runs commands on another machine',
  sendsInput: true,
  skips: 1,
  isJoined: true,
  isElsewhere: true,
  options: {
    ...valued('-b -B -c -D -e -i -J -l -L -m -O -p -Q -R -S -w -W'),
    ...each('-o -F', {
      class: 'obfuscated',
      reason: 'may make ssh run programs on this machine',
      value: 'text',
      harmless: SSH_SETTING,
    }),
    ...each('-I', { class: 'obfuscated', reason: 'loads code', value: 'text' }),
    ...each('-E', { value: 'write' }),
    ...each('-R', { class: 'exfiltration', reason: 'forwards a port of another machine to this one', value: 'text' }),
  },
};

/** Programs that run commands on another machine, or that ssh needs around it. */
const WRAPPERS: WrapperTable = {
  ssh,
  ...each('mosh autossh', { ...ssh, hasNoCommand: false }),
  sshpass: { class: 'network', options: valued('-p -f -d -P') },
  'ssh-agent': { class: 'execute', options: valued('-a -t -E -O -P'), bare: 'execute' },
};

/** Programs that communicate with other machines. */
export const NETWORK: ProgramFamily = {
  name: 'network',
  programs: SPECS,
  wrappers: WRAPPERS,
  typing: {
    ...each('ftp telnet msfconsole', typedCode(unless())),
    ...each('sftp lftp', typedCode(unless(/^-[bcf]/))),
    ssh: typedCode(
      upTo(1, '-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w', /^-[A-Za-z0-9]*[NfWOVQG]/),
    ),
    mosh: typedCode(upTo(1, '-p --ssh --server')),
    'mosh-client': typedCode(unless()),
  },
  traits: {
    runnable: 'curl wget nc ncat socat ssh scp rsync gh aws',
    fetches: 'curl wget http https xh aria2c nc ncat netcat ftp lftp scp sftp rsync socat aws gsutil',
  },
  variables: [
    {
      names: /^SSH_ASKPASS$/,
      class: 'obfuscated',
      what: 'sets a program that other programs run',
      harmless: TRIVIAL_PROGRAM,
    },
    { names: /^(?:RSYNC_RSH|CURL_HOME|WGETRC)$/, class: 'obfuscated', what: 'adds options to a program' },
  ],
  startupPaths: [
    'authorized_keys',
    'authorized_keys2',
    'known_hosts',
    '~/.ssh/**',
    '/**/.ssh/**',
    '~/.aws/**',
    '~/.netrc',
    '.curlrc',
    '~/.wgetrc',
  ],
  examples: EXAMPLES,
};
