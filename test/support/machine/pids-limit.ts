import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { eventually } from '../measure.js';

/** Where the pids controller of cgroup v1 is mounted. */
const CONTROLLER = '/sys/fs/cgroup/pids';

/** A control group that bounds the number of processes and threads in it, removed when it is disposed of. */
export class PidsLimit implements AsyncDisposable {
  readonly path: string;

  constructor() {
    this.path = mkdtempSync(join(CONTROLLER, 'shell-adapter-test-'));
  }

  /** What to put in front of a command line to run it in the group. */
  get launcher(): readonly string[] {
    return ['sh', '-c', `echo $$ >'${this.path}/cgroup.procs' && exec "$@"`, 'sh'];
  }

  /** Processes and threads in the group now. */
  get current(): number {
    return Number(readFileSync(join(this.path, 'pids.current'), 'utf8'));
  }

  /** Allows so many: 0 allows nothing new, whatever ends meanwhile. `max` takes the bound away. */
  set(max: number | 'max'): void {
    writeFileSync(join(this.path, 'pids.max'), String(max));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await eventually(() => {
      rmdirSync(this.path);
    });
  }
}

/** Whether this user may make such groups here. */
export function canLimitPids(): boolean {
  const probe = join(CONTROLLER, `shell-adapter-probe-${process.pid}`);
  try {
    mkdirSync(probe);
  } catch {
    // No such controller, or not ours to write.
    return false;
  }
  const isUsable = existsSync(join(probe, 'pids.max'));
  rmdirSync(probe);
  return isUsable;
}
