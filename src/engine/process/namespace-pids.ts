import { isSandboxed, type ProcessRoot } from './process-root.js';

/** Returns the namespace pid of a process: in a sandbox, commands see other pids than the daemon does. */
export function namespacePid(pid: number, root: ProcessRoot | undefined): number {
  if (!root || !isSandboxed(root)) return pid;
  return pid === root.main ? root.mainNamespacePid : root.numberInside(pid);
}

/** Namespace pids, cached for processes that have ended since the last two samples: the kernel no longer reports them. */
export class NamespacePids {
  readonly #root: () => ProcessRoot | undefined;
  #earlier: ReadonlyMap<number, number> = new Map();
  #last: ReadonlyMap<number, number> = new Map();

  /** @param root determines whether there is a sandbox; undefined once it has ended */
  constructor(root: () => ProcessRoot | undefined) {
    this.#root = root;
  }

  /** Records the processes of a sample. */
  note(pids: readonly number[]): void {
    const root = this.#root();
    if (!root || !isSandboxed(root)) return;
    this.#earlier = this.#last;
    this.#last = new Map(pids.map((pid) => [pid, this.#earlier.get(pid) ?? root.numberInside(pid)]));
  }

  /** Returns the namespace pid of a process; the pid itself without a sandbox. */
  of(pid: number): number {
    return this.#last.get(pid) ?? this.#earlier.get(pid) ?? namespacePid(pid, this.#root());
  }
}
