import type { WrapperSpec, WrapperTable } from '../../family/wrapper-spec.js';
import { each, valued } from '../../subject/program-spec.js';

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
export const WRAPPERS: WrapperTable = {
  ssh,
  ...each('mosh autossh', { ...ssh, hasNoCommand: false }),
  sshpass: { class: 'network', options: valued('-p -f -d -P') },
  'ssh-agent': { class: 'execute', options: valued('-a -t -E -O -P'), bare: 'execute' },
};
