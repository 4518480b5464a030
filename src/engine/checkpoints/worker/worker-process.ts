import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { AdapterError } from '../../../core/errors.js';
import type { Job, JobOf, JobResults, RunJob, StoreOptions } from '../job.js';
import type { WorkerReply, WorkerRequest } from './messages.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

/** Timeout of jobs that do not change the workspace, in milliseconds. */
const TIMEOUT_MS = 10 * 60 * 1000;

/** Longest wait for a restore when the daemon shuts down, in milliseconds; the whole shutdown may take 4.5 s. */
const SHUTDOWN_WAIT_MS = 2500;

/** Jobs that may be killed at any time: the next one removes their leftovers. A restore is always completed. */
const CAN_BE_ENDED: ReadonlySet<Job['kind']> = new Set(['save', 'diff', 'tidy']);

/** Runs checkpoint jobs in separate processes. */
export class CheckpointWorkers implements AsyncDisposable {
  readonly #running = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();

  /** Runs a job. Rejects with an AdapterError. */
  readonly run: RunJob = async <K extends Job['kind']>(job: JobOf<K>, options: StoreOptions) => {
    const working =
      job.kind === 'list' ? listHere(job as JobOf<'list'>, options) : work(job, options, this.#ending.signal);
    this.#running.add(working);
    try {
      return (await working) as JobResults[K];
    } finally {
      this.#running.delete(working);
    }
  };

  /**
   * Kills interruptible jobs, and waits for the others; a restore that takes longer is completed without the daemon.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    const late = new AbortController();
    const patience = sleep(SHUTDOWN_WAIT_MS, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.#running), patience]);
    late.abort();
  }
}

/** One short git process: not worth a worker. */
async function listHere(job: JobOf<'list'>, options: StoreOptions): Promise<JobResults['list']> {
  const { runJob } = await import('./run-job.js');
  return (await runJob(job, options)) as JobResults['list'];
}

async function work<K extends Job['kind']>(
  job: JobOf<K>,
  options: StoreOptions,
  ending: AbortSignal,
): Promise<JobResults[K]> {
  const request: WorkerRequest = { job, options };
  // Loaded with the first job: loading takes time that would delay the start of the daemon.
  const { execa } = await import('execa');
  const worker = execa(process.execPath, [MAIN], {
    input: JSON.stringify(request),
    env: {},
    extendEnv: false,
    cwd: '/',
    // Its own process group: neither Ctrl-C at the daemon's terminal nor the daemon's end reaches a restore.
    detached: true,
    cleanup: false,
    reject: false,
    stripFinalNewline: false,
    maxBuffer: Number.MAX_SAFE_INTEGER,
  });
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const cancelled = AbortSignal.any([ending, late]);
  // Includes the worker's git processes: they must not continue after their lock is released.
  const endGroup = () => {
    if (worker.pid !== undefined) endProcessGroup(worker.pid);
  };
  if (CAN_BE_ENDED.has(job.kind)) cancelled.addEventListener('abort', endGroup);
  if (ending.aborted) endGroup();
  const end = await worker;
  cancelled.removeEventListener('abort', endGroup);
  if (end.stdout !== '' && !end.failed) return readReply(end.stdout) as JobResults[K];
  if (ending.aborted) throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
  if (late.aborted) throw new AdapterError('CHECKPOINT_FAILED', `it took longer than ${TIMEOUT_MS / 1000} s`);
  throw lost(end.stderr, end.signal ?? end.exitCode ?? end.originalMessage);
}

function endProcessGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: it has just ended.
  }
}

function readReply(text: string): unknown {
  const reply = JSON.parse(text) as WorkerReply;
  if (!('error' in reply)) return reply.result;
  const { code, message, details } = reply.error;
  throw new AdapterError(code, message, details && { details });
}

/** Returns the error of a worker that died; mostly the OOM killer has killed it. */
function lost(stderr: string, how: string | number | undefined): AdapterError {
  const said = stderr.trim().split('\n').at(-1) ?? '';
  const message = `the process that works on checkpoints has ended (${how ?? 'unknown'})${said && `: ${said}`}`;
  return new AdapterError('CHECKPOINT_FAILED', message, { details: { stderr: said } });
}
