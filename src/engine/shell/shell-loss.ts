import type { Log } from '../../core/logging/log.js';
import type { CommandEnd, Warning } from '../command/outcome.js';
import { findSessionProcesses } from '../process/find-processes.js';
import type { ShellProcess } from './shell-process.js';
import type { TerminalExit } from './terminal.js';

const KEPT =
  'in the last directory, with the variables, functions, aliases, options, umask and traps of the last completed command';

/**
 * Returns, and logs, what a session has lost with its shell.
 * @param wedge why the shell was killed, if it was wedged
 */
export function describeLoss(shell: ShellProcess, exit: TerminalExit, wedge: string | undefined, log: Log): Warning[] {
  const how = exit.signal > 0 ? `was ended by signal ${exit.signal}` : `ended with code ${exit.exitCode}`;
  const why = wedge ?? `The shell ${how}`;
  log.info('a shell has ended and is replaced', { why, pid: shell.pid });
  const { notRestored } = shell.installed.shell;
  const message = `${why}. A new shell has been started ${KEPT}, except for \`set -e\`, ${notRestored}.`;
  const warnings: Warning[] = [{ code: wedge === undefined ? 'SHELL_ENDED' : 'SHELL_WEDGED', message }];
  if (hasLeftSome(shell)) {
    warnings.push({ code: 'BACKGROUND_ENDED', message: 'Its background processes are ended.' });
  }
  return warnings;
}

function hasLeftSome(shell: ShellProcess): boolean {
  try {
    return findSessionProcesses({ ...scopeOf(shell), root: undefined }).some(({ pid }) => !isRoot(shell, pid));
  } catch {
    // They cannot be listed at the moment. They are ended all the same, once that is possible.
    return false;
  }
}

const scopeOf = ({ tag, group, processes }: ShellProcess) => ({ tag, group, processes });

/** Whether it is of the shell itself: the kernel ends a sandbox a moment after the process that was killed. */
const isRoot = ({ root }: ShellProcess, pid: number): boolean => root.rootPids.includes(pid);

/** Whether a warning reports that the shell was replaced. */
export const tellsLoss = ({ code }: Warning): boolean => code === 'SHELL_ENDED' || code === 'SHELL_WEDGED';

/** Exit code of a command that could not be started, as in shells. */
const NOT_STARTED = 126;

/** Returns, and logs, the end of a command that could not be started. */
export function notStarted(error: unknown, log: Log): Pick<CommandEnd, 'exitCode' | 'warnings'> {
  const { message } = error as Error;
  log.warn('a command could not be started', { error: message });
  return { exitCode: NOT_STARTED, warnings: [{ code: 'NOT_STARTED', message: `The command was not run: ${message}` }] };
}
