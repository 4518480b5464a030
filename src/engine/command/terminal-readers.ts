import type { ProcessEntry } from '../platform/contract/process-entry.js';
import type { Processes } from '../platform/contract/processes.js';

/** A program in the foreground of a terminal, or behind it. */
export interface ForegroundProgram {
  /** The kernel's name of the process: at most 15 characters of the file name. */
  readonly name: string;
  /** Arguments, starting with the program's own name; empty when they are not readable. */
  readonly args: readonly string[];
  /** Whether standard input is a terminal. Also true when that cannot be determined. */
  readonly readsTerminal: boolean;
}

/** Programs that may read terminal input. */
export interface TerminalReaders {
  /** Programs in the foreground. */
  readonly foreground: readonly ForegroundProgram[];
  /** Ancestors of the foreground programs, which read the terminal after them. */
  readonly behind: readonly ForegroundProgram[];
}

const NO_READERS: TerminalReaders = { foreground: [], behind: [] };

/** A shell whose terminal programs may read. */
interface ReadingShell {
  readonly pid: number;
  readonly processes: Processes;
  /** Whether its program is still the one that was started. */
  readonly hasDriver: boolean;
}

/** Returns the programs that may read input of a shell's terminal: not the shell itself while its driver runs. */
export function terminalReaders({ pid, processes, hasDriver }: ReadingShell): TerminalReaders {
  const shell = processes.read(pid);
  if (!shell || shell.foregroundGroup <= 0) return NO_READERS;
  if (shell.foregroundGroup === shell.group && hasDriver) return NO_READERS;
  const all = new Map(processes.list().map((entry) => [entry.pid, entry]));
  const foreground = [...all.values()].filter(({ group }) => group === shell.foregroundGroup);
  const behind = findBehind(foreground, shell, all);
  const describe = (entry: ProcessEntry) => describeProgram(entry, processes);
  return { foreground: foreground.map(describe), behind: behind.map(describe) };
}

/** Returns the ancestors of foreground programs, up to the shell, that are not in the foreground themselves. */
function findBehind(
  foreground: readonly ProcessEntry[],
  shell: ProcessEntry,
  all: ReadonlyMap<number, ProcessEntry>,
): ProcessEntry[] {
  const isBelowShell = ({ pid, session }: ProcessEntry) => pid !== shell.pid && session === shell.session;
  const behind = new Map<number, ProcessEntry>();
  for (const member of foreground) {
    let parent = all.get(member.parent);
    while (parent && isBelowShell(parent) && !behind.has(parent.pid)) {
      if (parent.group !== shell.foregroundGroup) behind.set(parent.pid, parent);
      parent = all.get(parent.parent);
    }
  }
  return [...behind.values()];
}

const describeProgram = ({ pid, name }: ProcessEntry, processes: Processes): ForegroundProgram => ({
  name,
  args: processes.argumentsOf(pid),
  readsTerminal: processes.hasTerminalInput(pid),
});
