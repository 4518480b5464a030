import { findProgram, SHELLS } from '../engine/shells/list.js';
import type { Shell } from '../engine/shells/shell.js';
import { shellVersions } from '../services/machine/metadata.js';
import { APT, type Finding } from './finding.js';

/** Where shells are looked for, and which one has to be there. */
export interface ShellSurroundings {
  /** Environment variables of the shells. */
  readonly env: Readonly<Record<string, string>>;
  /** Name or path. */
  readonly defaultShell: string;
}

/** Checks the shells that the daemon can drive. */
export async function examineShells({ env, defaultShell }: ShellSurroundings): Promise<Finding[]> {
  const installed = await shellVersions(env);
  const findings = SHELLS.map((shell): Finding => {
    const { name, isUntested } = shell;
    const found = installed.find((one) => one.name === name);
    if (isUntested) return examineUntested(name, found);
    if (found) return { name, status: 'ok', detail: `${found.path}, ${found.version}` };
    return missing(shell, env['PATH'] ?? '', defaultShell === name);
  });
  if (!defaultShell.includes('/') || installed.some(({ path }) => path === defaultShell)) return findings;
  return [...findings, examineShellFile(defaultShell)];
}

/** A shell in which no test has run the driver. Without it nothing is missing. */
function examineUntested(
  name: string,
  found: { readonly path: string; readonly version: string } | undefined,
): Finding {
  if (!found) return { name, status: 'ok', detail: 'not on PATH, and not needed: its driver is untested' };
  const detail = `${found.path}, ${found.version}: untested, its driver was written from its documentation`;
  return { name, status: 'warn', detail, fix: 'see that its sessions do what you need, or use another shell' };
}

function missing({ name, programs }: Shell, path: string, isDefault: boolean): Finding {
  const detail = `not on PATH (${path})`;
  const fix = `apt-get install ${programs.at(-1) ?? name} ${APT}${isDefault ? ', or set adapter.shell to another one' : ''}`;
  return { name, status: isDefault ? 'missing' : 'warn', detail, fix };
}

function examineShellFile(path: string): Finding {
  if (findProgram(path.replace(/^\//, ''), '/') !== undefined)
    return { name: 'adapter.shell', status: 'ok', detail: path };
  const fix = 'set adapter.shell to a shell that is there';
  return { name: 'adapter.shell', status: 'missing', detail: `${path} is not an executable file`, fix };
}
