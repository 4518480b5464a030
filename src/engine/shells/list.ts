import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { AdapterError } from '../../core/errors.js';
import { bash } from './bash.js';
import { fish } from './fish.js';
import { pwsh } from './pwsh.js';
import { sh } from './sh.js';
import type { Shell } from './shell.js';
import { zsh } from './zsh.js';

/** Every shell that the adapter can drive. A new one takes a file beside this one, and an entry here. */
export const SHELLS: readonly Shell[] = [bash, zsh, sh, fish, pwsh];

/** Directory of the drivers, which every shell reads at its start. */
export const DRIVERS_DIRECTORY = fileURLToPath(new URL('./drivers', import.meta.url));

/** An installed shell. */
export interface InstalledShell {
  readonly shell: Shell;
  readonly path: string;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, or not executable.
    return false;
  }
}

/** Searches a program on PATH, as execvp(3) does. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isProgram);
}

/**
 * Finds a shell by the name or path that a client has requested.
 * @throws AdapterError SHELL_NOT_FOUND
 */
export function findShell(wanted: string, path: string): InstalledShell {
  if (isAbsolute(wanted)) {
    if (!isProgram(wanted)) throw new AdapterError('SHELL_NOT_FOUND', `${wanted} is not an executable file`);
    return shellAt(wanted) ?? refuse(wanted);
  }
  const shell = shellNamed(wanted) ?? refuse(wanted);
  const found = locate(shell, path);
  if (found) return found;
  throw new AdapterError('SHELL_NOT_FOUND', `${shell.name} is not installed, or not on PATH (${path})`);
}

/**
 * Finds the shell of sessions that ask for none, which also runs commands without a session.
 * @throws AdapterError SHELL_NOT_FOUND
 */
export function findDefaultShell(wanted: string, path: string): InstalledShell {
  const found = findShell(wanted, path);
  if (found.shell.oneShot) return found;
  const able = SHELLS.filter(({ oneShot }) => oneShot).map(({ name }) => name);
  const message = `${found.shell.name} runs sessions alone: adapter.shell can be ${able.join(', ')}`;
  throw new AdapterError('SHELL_NOT_FOUND', message);
}

/** Returns the installed shells. */
export function installedShells(path: string): InstalledShell[] {
  return SHELLS.map((shell) => locate(shell, path)).filter((found) => found !== undefined);
}

const shellNamed = (name: string): Shell | undefined =>
  SHELLS.find((shell) => shell.name === name || shell.programs.includes(name));

/** Follows links to a shell with another name: `sh` may be dash, or bash, which needs its own driver. */
function shellAt(path: string): InstalledShell | undefined {
  const real = realpathSync(path);
  const behind = shellNamed(basename(real));
  if (behind) return { shell: behind, path: real };
  const shell = shellNamed(basename(path));
  return shell && { shell, path };
}

/** Searches the shell's program; one that is really another shell does not count. */
function locate(shell: Shell, path: string): InstalledShell | undefined {
  return shell.programs
    .map((program) => findProgram(program, path))
    .map((file) => (file === undefined ? undefined : shellAt(file)))
    .find((found) => found?.shell === shell);
}

function refuse(wanted: string): never {
  const names = SHELLS.map(({ name }) => name).join(', ');
  throw new AdapterError('SHELL_NOT_FOUND', `the adapter cannot drive ${JSON.stringify(wanted)}; it can: ${names}`);
}
