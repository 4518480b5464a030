import type { ProgramFamily } from '../../family/program-family.js';
import { typedCode, unless, upTo } from '../../family/typing-rules.js';
import { each } from '../../subject/program-spec.js';
import { TRIVIAL_PROGRAM } from '../../subject/assignments.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';
import { WRAPPERS } from './wrappers.js';

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
