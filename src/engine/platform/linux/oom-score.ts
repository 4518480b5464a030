import { tryWrite } from '../../system/small-file.js';

/**
 * Added to the kernel's badness score of a process, out of 1000, when it selects one to kill
 * (proc_pid_oom_score_adj(5)).
 */
const VICTIM_SCORE = 500;

/** Makes the OOM killer prefer this process and its descendants to the daemon. */
export function makeFirstVictim(pid: number): void {
  // The owner may always raise the score; without the file there is nothing to do.
  tryWrite(`/proc/${pid}/oom_score_adj`, VICTIM_SCORE);
}
