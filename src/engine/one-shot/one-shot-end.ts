import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { Command } from '../command/command.js';
import { type CommandEnd, exitCodeOfSignal, type Warning } from '../command/outcome.js';
import { commandLineOf, findBackgroundProcesses } from '../process/background-processes.js';
import { findNewProcesses } from '../process/new-processes.js';
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

/**
 * Finds the processes that an ended one-shot has left running: none in a sandbox, where they end with it.
 * @param isHeld whether a process still holds its pipes
 */
export function leftBy(
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
