import type { ProgramFamily } from '../../family/program-family.js';
import { TRIVIAL_PROGRAM } from '../../subject/assignments.js';
import { EXAMPLES } from './examples.js';
import { SHOWING } from './showing.js';
import { SPECS } from './table.js';
import { TYPING } from './typing.js';
import { WRAPPERS } from './wrappers.js';

/** Programs that act on the machine: accounts, services, schedules, disks, network settings, packages of the system. */
export const SYSTEM: ProgramFamily = {
  name: 'system',
  programs: SPECS,
  wrappers: WRAPPERS,
  showing: SHOWING,
  typing: TYPING,
  traits: {
    runnable: 'sudo doas su pkexec kill pkill killall systemctl crontab at apt apt-get dnf yum',
    metadata: 'smartctl udevadm',
  },
  runnable: /^mkfs\b/,
  variables: [
    {
      names: /^SUDO_ASKPASS$/,
      class: 'obfuscated',
      what: 'sets a program that other programs run',
      harmless: TRIVIAL_PROGRAM,
    },
  ],
  startupPaths: ['~/.gnupg/**', '~/.screenrc', '~/.tmux.conf', '~/.config/systemd/**', '~/.local/share/systemd/**'],
  examples: EXAMPLES,
};
