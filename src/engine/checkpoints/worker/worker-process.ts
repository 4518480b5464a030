import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { AdapterError } from '../../../core/errors.js';
import type { Job, JobOf, JobResults, RunJob, StoreOptions } from '../job.js';
import type { WorkerReply, WorkerRequest } from './messages.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

/** Longest that a job may take which changes nothing in the workspace, in milliseconds. */
const TIMEOUT_MS = 10 * 60 * 1000;

/** How long the end of the daemon waits for a restore, in milliseconds; all of it may take 4.5 s. */
const PATIENCE_MS = 2500;

/** Jobs that may be ended at any time: what they leave is removed by the next one. A restore is always completed. */
const CAN_BE_ENDED: ReadonlySet<Job['kind']> = new Set(['save', 'diff', 'tidy']);

/** Does the jobs of checkpoints in processes of their own. */
export class CheckpointWorkers implements AsyncDisposable {
  readonly #running = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();

  /** Does a job. Rejects with an AdapterError. */
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

  /** Ends what may be ended, and waits for the rest; a restore that takes longer is completed without the daemon. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    const late = new AbortController();
    const patience = sleep(PATIENCE_MS, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.#running), patience]);
    late.abort();
  }
}

/** One short process of git: not worth a worker. */
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
  // Loaded with the first job: it takes its time, and the daemon should be up soon.
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
  const cut = AbortSignal.any([ending, late]);
  // With the processes of git that it has started: they must not go on when nobody holds the lock for them.
  const endGroup = () => {
    if (worker.pid !== undefined) endProcessGroup(worker.pid);
  };
  if (CAN_BE_ENDED.has(job.kind)) cut.addEventListener('abort', endGroup);
  if (ending.aborted) endGroup();
  const end = await worker;
  cut.removeEventListener('abort', endGroup);
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

/** The worker has died: by the kernel's hand, mostly, when memory is short. */
function lost(stderr: string, how: string | number | undefined): AdapterError {
  const said = stderr.trim().split('\n').at(-1) ?? '';
  const message = `the process that works on checkpoints has ended (${how ?? 'unknown'})${said && `: ${said}`}`;
  return new AdapterError('CHECKPOINT_FAILED', message, { details: { stderr: said } });
}
