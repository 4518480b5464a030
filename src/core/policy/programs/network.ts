import { judgeCurl, judgeSender, judgeRemoteCopy } from '../special/network.js';
import { each, type ProgramTable, valued } from './spec.js';

/** Programs that speak to other machines. */
export const NETWORK: ProgramTable = {
  curl: { class: 'network', operands: 'text', judge: judgeCurl },
  wget: {
    class: 'network',
    operands: 'text',
    options: {
      ...each('-O -o -a --output-document --output-file --append-output -P --directory-prefix', { value: 'write' }),
      ...each('--post-file --body-file', { class: 'exfiltration', reason: 'sends a file', value: 'read' }),
      ...each('--post-data --body-data', { value: 'text' }),
      ...each('--use-askpass -e --execute --config', { class: 'obfuscated', value: 'text' }),
      ...valued('-t -T -U -i -Q -w -l -A -R -D --tries --timeout --user-agent --header --user --password'),
    },
    judge: judgeSender,
  },
  ...each('http https xh', {
    class: 'network',
    operands: 'text',
    options: { ...each('-o --output', { value: 'write' }) },
    judge: judgeSender,
  }),
  aria2c: {
    class: 'network',
    operands: 'text',
    options: { ...each('-d -o --dir --out', { value: 'write' }), '--on-download-complete': { value: 'code' } },
  },
  ...each('ping ping6 dig nslookup host whois traceroute tracepath mtr arp arping nmap ipcalc', {
    class: 'network',
    operands: 'text',
    judge: judgeSender,
  }),
  ...each('nc ncat netcat socat telnet', {
    class: 'network',
    operands: 'text',
    options: {
      ...each('-e -c --exec --sh-exec', {
        class: 'obfuscated',
        reason: 'gives a program to another machine',
        value: 'shell',
      }),
      ...each('-l --listen', { class: 'exfiltration', reason: 'waits for connections' }),
    },
    judge: judgeSender,
  }),
  ...each('scp sftp rsync rclone', { class: 'network', operands: 'text', judge: judgeRemoteCopy }),
  ...each('ftp lftp ncftp tftp smbclient', {
    class: 'network',
    operands: 'text',
    options: { '-c': { class: 'obfuscated', value: 'text' } },
    judge: judgeSender,
  }),
  ...each('mail mailx sendmail mutt msmtp swaks', { class: 'exfiltration', reason: 'sends mail', operands: 'text' }),
  ...each('gh glab hub', {
    class: 'network',
    operands: 'text',
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
        subcommands: each('delete archive rename', { class: 'destructive', operands: 'text' }),
      }),
      ...each('alias extension', { class: 'obfuscated', reason: 'may run anything', operands: 'text' }),
    },
  }),
  ...each('aws gcloud az oci doctl flyctl heroku vercel netlify wrangler', { class: 'network', operands: 'text' }),
  openssl: {
    class: 'execute',
    operands: 'text',
    subcommands: each('s_client s_server s_time', { class: 'network', operands: 'text', judge: judgeSender }),
  },
  ...each('ssh-copy-id', { class: 'persistence', reason: 'lets somebody in on another machine' }),
  'ssh-keygen': {
    class: 'write',
    operands: 'text',
    options: { ...each('-f', { value: 'write' }), ...valued('-t -b -C -N -P -m') },
  },
  ...each('ssh-add ssh-agent', { class: 'execute', operands: 'text' }),
  ...each('ngrok cloudflared localtunnel lt bore', {
    class: 'exfiltration',
    reason: 'opens this machine to others',
    operands: 'text',
  }),
};
