import type { WrapperSpec, WrapperTable } from '../../family/wrapper-spec.js';
import { each, valued } from '../../subject/program-spec.js';

const sudo: WrapperSpec = {
  class: 'privilege',
  reason: 'acts as another user',
  takesVariables: true,
  changesDirectory: ['-D', '--chdir'],
  options: {
    ...valued('-u -g -p -C -D -h -r -t -T -R -U --user --group --prompt --chdir --host --role --type --chroot'),
    ...each('-e --edit', { class: 'persistence', reason: 'edits as another user' }),
  },
};

const su: WrapperSpec = {
  class: 'privilege',
  hasNoCommand: true,
  reason: 'acts as another user',
  options: {
    ...each('-c --command --session-command', { value: 'shell' }),
    ...valued('-g -G -s -w --group --shell --whitelist-environment'),
  },
};

/** Programs that run others as another user, or in another part of the machine. */
export const WRAPPERS: WrapperTable = {
  ...each('sudo doas run0', sudo),
  su,
  runuser: { ...su, hasNoCommand: false },
  pkexec: { ...sudo, options: valued('--user') },
  ...each('gosu su-exec setuser', { class: 'privilege', reason: 'acts as another user', skips: 1 }),
  setpriv: { class: 'privilege', options: valued('--reuid --regid --groups --inh-caps --ambient-caps --bounding-set') },
  chroot: { class: 'privilege', skips: 1, isElsewhere: true, options: valued('--userspec --groups') },
  unshare: { class: 'privilege', options: valued('-S -G -R -w --setuid --setgid --root --wd') },
  nsenter: { class: 'privilege', isElsewhere: true, options: valued('-t -S -G --target --setuid --setgid') },
  'systemd-run': {
    class: 'privilege',
    options: valued('-u -p -E -M -H --unit --property --setenv --uid --gid --slice --on-calendar'),
  },
};
