import { AdapterError } from '../../core/errors.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import type { Platform } from '../platform/contract/platform.js';
import { TAG_VARIABLE } from '../platform/contract/process-entry.js';
import { MARK_VARIABLE, markOf } from '../process/session-mark.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { SandboxNetwork } from '../sandbox/sandbox-networks.js';
import type { InstalledShell } from '../shells/list.js';
import { DRIVER_FILES } from '../shells/shell.js';
import type { TerminalProgram } from './terminal.js';

/** Exit code of a driver that could not open its files: EX_OSERR of sysexits.h. */
const EX_OSERR = 71;

/** Options of a shell process. */
export interface ShellProcessOptions {
  readonly installed: InstalledShell;
  /** Directory with the FIFOs `cmd`, `ctl` and those of the first slots. */
  readonly directory: string;
  readonly tag: string;
  /** The process group of the shell and its processes. */
  readonly group: ProcessGroup;
  readonly platform: Platform;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  readonly launcher: Launcher;
  readonly profile: SandboxProfile;
  /** Whether any resource limit applies to the shell. */
  readonly isLimited: boolean;
  /** The network of its sandbox, if that has one of its own. */
  readonly network?: SandboxNetwork | undefined;
}

/**
 * Returns the program of a shell's terminal: the shell with its driver, in its surroundings.
 * @param isIsolated whether it has its own PID namespace
 */
export function shellProgram(options: ShellProcessOptions, isIsolated: boolean): TerminalProgram {
  const { installed, directory, tag, cwd, env, cols, rows, launcher, profile, isLimited, network } = options;
  const invocation = installed.shell.session(directory, isIsolated);
  const command = [...(invocation.launcher ?? []), installed.path, ...invocation.args];
  const launch = { profile, isLimited, command, env, directory, ownFiles: DRIVER_FILES, cwd, network };
  const [file = installed.path, ...args] = launcher.wrap(launch);
  const markers = { [TAG_VARIABLE]: tag, [MARK_VARIABLE]: markOf(tag) };
  const variables = { ...env, ...invocation.env, ...markers };
  return { file, args, cwd: launcher.startDirectory(cwd), env: variables, cols, rows, owner: launcher.owner };
}

/** The error of a shell that has ended before its driver was ready. */
export function endAtStart(path: string, exitCode: number, output: string): AdapterError {
  if (exitCode !== EX_OSERR) {
    const what = output === '' ? '' : `: ${output}`;
    return new AdapterError('SHELL_FAILED', `${path} ended with code ${exitCode} at its start${what}`);
  }
  const message = `${path} could not open its files: the limit of open files (ulimit -n) is too low`;
  return new AdapterError('RESOURCE_EXHAUSTED', message);
}
