import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
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
