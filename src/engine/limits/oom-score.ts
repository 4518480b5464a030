import { tryWrite } from '../system/small-file.js';

/** Added to what the kernel counts of a process's memory, out of 1000, when it has to kill one (proc_pid_oom_score_adj(5)). */
const VICTIM_SCORE = 500;

/** Has the kernel, when the machine is out of memory, kill this process and what it starts rather than the daemon. */
export function makeFirstVictim(pid: number): void {
  // A higher score is never refused to the owner; where there is no such file there is nothing to be gained.
  tryWrite(`/proc/${pid}/oom_score_adj`, VICTIM_SCORE);
}
