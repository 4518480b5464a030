import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { settledWithin } from '../../core/time.js';
import type { Command } from '../command/command.js';
import { type CommandEnd, exitCodeOfSignal, unlisted, type Warning } from '../command/outcome.js';
import { askPatiently } from '../process/ask-patiently.js';
import { commandLineOf, findBackgroundProcesses, reportBackgroundProcesses } from '../process/background-processes.js';
import { endProcesses, sendSignal } from '../process/end-processes.js';
import { findNewProcesses } from '../process/new-processes.js';
import { reportProcesses } from '../process/reported-process.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import type { StartMarker } from '../platform/contract/start-marker.js';
import { isPlaceGone } from '../sandbox/place-gone.js';
import type { OneShotProcess } from './one-shot-process.js';
import type { ProcessEnd } from './process-starter.js';

/** Warning of a result that lists background processes: unlike a session, a one-shot ends them. */
export const BACKGROUND_ENDED: Warning = {
  code: 'BACKGROUND_ENDED',
  message:
    'A one-shot command ends with everything it started: its background processes are being ended. Use a session to keep them.',
};

/**
 * Converts the end of a one-shot's process into a command end.
 * @param path the daemon's PATH
 * @param complaint what bubblewrap has printed
 */
export function commandEnd(end: ProcessEnd, command: Command, path?: string, complaint?: Buffer): CommandEnd {
  if (end.kind === 'failed') return failedStart(command, end, path);
  const exitCode = end.kind === 'exited' ? end.exitCode : exitCodeOfSignal(end.signal);
  return { exitCode, sessionState: null, workingDirectory: null, warnings: unmadeSandbox(complaint) };
}

/** Error codes of a machine without free processes, descriptors or memory at the moment. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);
/** Error codes of a program that cannot be run: the exit code says enough. */
const UNUSABLE: ReadonlySet<string> = new Set(['EACCES', 'ENOEXEC', 'E2BIG']);

/**
 * Returns the end of a command that could not be started, and writes a line to its error output. Exit codes as in shells: 127
 * for a missing program, 126 for one that cannot be run.
 */
export function failedStart(
  command: Command,
  { code = '', message }: { code?: string | undefined; message: string },
  path: string | undefined,
): CommandEnd {
  const isMissing = isMissingProgram(command, code, path);
  const reason = isMissing ? 'command not found' : code === 'EACCES' ? 'Permission denied' : message;
  command.errors.write(Buffer.from(`${command.spec.args ? command.spec.command : 'shell-adapter'}: ${reason}\n`));
  const warnings = isMissing || UNUSABLE.has(code) ? [] : [notStarted(code, message)];
  return { exitCode: isMissing ? 127 : 126, sessionState: null, workingDirectory: null, warnings };
}

const notStarted = (code: string, message: string): Warning => ({
  code: EXHAUSTED.has(code) ? 'RESOURCE_EXHAUSTED' : 'NOT_STARTED',
  message: `The command was not run: ${message}`,
});

/** Returns a warning that the command has not run, if a file to hide was removed while its sandbox was started. */
function unmadeSandbox(complaint: Buffer | undefined): readonly Warning[] {
  const text = complaint?.toString().trim() ?? '';
  return isPlaceGone(text) ? [notStarted('', `${text}. It can be sent again`)] : [];
}

/** execvp(3) gives EACCES for a missing program as well, when a folder of PATH may not be searched. */
function isMissingProgram({ spec: { command, args, env } }: Command, code: string, path = ''): boolean {
  if (code === 'ENOENT') return true;
  if (code !== 'EACCES' || !args || command.includes('/')) return false;
  return !(env?.['PATH'] ?? path).split(delimiter).some((folder) => existsSync(join(folder, command)));
}

/** Returns the end of a command that was cancelled before it ran. */
export const cancelledStart = (): CommandEnd => ({
  exitCode: exitCodeOfSignal('SIGINT'),
  sessionState: null,
  workingDirectory: null,
  warnings: [notStarted('', 'it was cancelled before its start')],
});

/** Processes that a command has left running, and a warning if they cannot be listed. */
export interface LeftRunning {
  readonly background: readonly ProcessEntry[];
  readonly warnings: readonly Warning[];
}

/**
 * Finds the processes that an ended one-shot has left running: none in a sandbox, where they end with it. A failed search
 * never keeps the command from its end.
 * @param isHeld whether a process still holds its pipes
 */
export async function leftBy(process: OneShotProcess, beginning: StartMarker, isHeld: boolean): Promise<LeftRunning> {
  try {
    return { background: await askPatiently(() => search(process, beginning, isHeld)), warnings: [] };
  } catch (error) {
    return { background: [], warnings: [unlisted(error)] };
  }
}

function search(
  process: OneShotProcess,
  beginning: StartMarker,
  isHeld: boolean,
): ProcessEntry[] | Promise<ProcessEntry[]> {
  if (process.isIsolated) return [];
  const { scope } = process;
  const mayHaveLeft = () => isHeld || findNewProcesses(scope, beginning).length > 0;
  const { askAside } = scope.processes;
  if (!askAside) return mayHaveLeft() ? findLeft(process, isHeld) : [];
  return askAside(mayHaveLeft).then((isSo) => (isSo ? findLeft(process, isHeld) : []));
}

function findLeft({ scope, shellLine }: OneShotProcess, isHeld: boolean): Promise<ProcessEntry[]> {
  return findBackgroundProcesses({
    scope,
    mustBeThere: isHeld,
    isAppearing: ({ pid }) => commandLineOf(pid, scope.processes) === shellLine,
  });
}

/**
 * Ends what is still running of a terminated command.
 * @returns the processes that survive, as far as they can be listed
 */
export async function endRest(
  process: OneShotProcess,
  termination: Promise<unknown> | undefined,
): Promise<ProcessEntry[]> {
  await termination;
  return endProcesses(() => process.findProcesses(), 0, { processes: process.processes }).catch(() => []);
}

/** Where processes cannot be listed at the moment: ends the process group. What has left it is searched for later. */
export async function endGroup({ pid, ended }: OneShotProcess, graceMs: number): Promise<void> {
  if (pid === undefined) return;
  sendSignal(-pid, 'SIGTERM');
  sendSignal(-pid, 'SIGCONT');
  if (!(await settledWithin(ended, graceMs))) sendSignal(-pid, 'SIGKILL');
}

/** The processes that an ended command has left. */
interface Left {
  readonly background: readonly ProcessEntry[];
  readonly survivors: readonly ProcessEntry[];
  /** End of the command on the monotonic clock: a list of processes since then is new enough. */
  readonly endedAt: number;
  readonly shellName: string;
}

/** Describes what a command has left, for its result; nothing where processes cannot be listed. */
export async function describeLeft(
  { processes, shellLine }: OneShotProcess,
  { background, survivors, endedAt, shellName }: Left,
): Promise<Pick<CommandEnd, 'survivors' | 'backgroundProcesses'>> {
  const describe = () => ({
    survivors: reportProcesses(survivors, processes),
    backgroundProcesses: reportBackgroundProcesses(background, { line: shellLine, name: shellName }, processes),
  });
  try {
    return processes.askAside ? await processes.askAside(describe, endedAt) : describe();
  } catch {
    return {};
  }
}
