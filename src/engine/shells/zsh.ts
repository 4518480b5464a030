import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { framedRequest, listsNames, POSIX_SETTING, quote, type Shell, surroundByPrefix } from './shell.js';

const DRIVER = fileURLToPath(new URL('./drivers/driver.zsh', import.meta.url));

/** What shows names in zsh alone. */
const LISTING = /\b(?:functions|whence|which|where)\b|\$\{\(\w*k|\$(?:\{\w*)?(?:functions|parameters)/;

/** zsh, 5.1 or later. */
export const zsh: Shell = {
  name: 'zsh',
  driver: DRIVER,
  showsVariables: true,
  programs: ['zsh'],
  versionArgs: ['--version'],
  requestFd: 0,
  session: (directory) => {
    // Without start-up files of the user or the system, ZDOTDIR is the only way to load a driver in zsh.
    symlinkSync(DRIVER, join(directory, '.zshrc'));
    return { args: ['-o', 'no_global_rcs', '-i', '-s'], env: { __SA_DIR: directory, ZDOTDIR: directory } };
  },
  oneShot: { before: ['-f', '-c'], after: ['zsh'], runFile: (path) => `eval "$(<${quote(path)})"` },
  parseOnly: (text) => ['-f', '-o', 'extendedglob', '-n', '-c', text],
  request: framedRequest,
  stepsBefore: (text) => (listsNames(text, LISTING) ? ['__sa_hide'] : []),
  surround: (surroundings) => surroundByPrefix(surroundings, { cd: 'builtin cd -q', export: 'builtin export' }),
  notRestored:
    'jobs, positional parameters, open descriptors, a trap on EXIT, and variables that are special, tied, or above 1 MB or 4 MB together',
  restore: (stateFile) => `builtin . ${quote(stateFile)}`,
  recall: '',
  losesInterruptOfHalfPipeline: true,
  ...POSIX_SETTING,
};
