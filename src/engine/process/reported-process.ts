import { namespacePid } from './namespace-pids.js';
import type { ProcessRoot } from './process-root.js';
import type { ProcessEntry } from '../platform/contract/process-entry.js';
import type { Processes } from '../platform/contract/processes.js';

/** A process as reported to clients. */
export interface ReportedProcess {
  readonly pid: number;
  readonly command: string;
}

/** Matches a shell that runs a driver of the adapter: the driver's text is not informative. */
const DRIVEN_SHELL = /^(?:\S*\/)?([\w.-]+) .*(?:\bread -r __sa\b|\/shells\/drivers\/driver\.)/;

/** Returns the reported command line: for a driven shell only its name. */
const reportedCommand = (line: string): string => DRIVEN_SHELL.exec(line)?.[1] ?? line;

/** Describes a process for a report: one of a sandbox with its namespace pid. */
export const reportProcess = (
  entry: ProcessEntry,
  { commandLine }: Processes,
  root?: ProcessRoot,
): ReportedProcess => ({
  pid: namespacePid(entry.pid, root),
  command: reportedCommand(commandLine(entry)),
});

/** Describes processes for a report: those of a sandbox with their namespace pids. */
export const reportProcesses = (
  entries: readonly ProcessEntry[],
  processes: Processes,
  root?: ProcessRoot,
): ReportedProcess[] => entries.map((entry) => reportProcess(entry, processes, root));
