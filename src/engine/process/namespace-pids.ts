import { isSandboxed, type ProcessRoot } from './process-root.js';
import { innermostPid } from './process-table.js';

/** The number of a process in the eyes of commands: in a sandbox they have others than in the daemon's. */
export function namespacePid(pid: number, root: ProcessRoot | undefined): number {
  if (!root || !isSandboxed(root)) return pid;
  return pid === root.main ? root.mainNamespacePid : innermostPid(pid);
}

/** Those numbers, remembered for what has gone since the last two looks: then nobody tells them any more. */
export class NamespacePids {
  readonly #root: () => ProcessRoot | undefined;
  #earlier: ReadonlyMap<number, number> = new Map();
  #last: ReadonlyMap<number, number> = new Map();

  /** @param root what tells whether there is a sandbox; undefined once it has ended */
  constructor(root: () => ProcessRoot | undefined) {
    this.#root = root;
  }

  /** Takes the processes that are there at a look. */
  note(pids: readonly number[]): void {
    const root = this.#root();
    if (!root || !isSandboxed(root)) return;
    this.#earlier = this.#last;
    this.#last = new Map(pids.map((pid) => [pid, this.#earlier.get(pid) ?? innermostPid(pid)]));
  }

  of(pid: number): number {
    return this.#last.get(pid) ?? this.#earlier.get(pid) ?? namespacePid(pid, this.#root());
  }
}
