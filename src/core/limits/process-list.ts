/** A process as ps(1) lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** R, S, D, Z (zombie), T (stopped), … */
  readonly state: string;
  /** Wall-clock time in milliseconds, with a resolution of one second. */
  readonly startedAt: number;
  readonly name: string;
}

/** Pid, parent, group, state, start as `Sun Nov 22 10:45:08 2026`, and the name, which may contain blanks. */
const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S)\S*\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/;

/** Parses the output of `ps -A -o pid=,ppid=,pgid=,stat=,lstart=,comm=` in the locale C; other lines are ignored. */
export function parseProcessList(text: string): ListedProcess[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state = '', start = '', name = ''] = LINE.exec(line) ?? [];
    if (pid === undefined) return [];
    const startedAt = Date.parse(start);
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), state, startedAt, name }];
  });
}
