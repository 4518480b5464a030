import { fileURLToPath } from 'node:url';

import { linkSignals, onAbort } from '../../core/abort.js';
import { ERROR_CATALOGUE } from '../../core/error-catalogue.js';
import { AdapterError } from '../../core/errors.js';
import { settledWithin } from '../../core/time.js';
import type { UserLaunch } from '../sandbox/user-launch.js';
import { sendSignal } from '../system/signals.js';
import type { Job, JobOf, JobResults, RunJob, StoreOptions, WorkerReply, WorkerRequest } from './job.js';

const MAIN = fileURLToPath(new URL('./worker-main.js', import.meta.url));

/** Timeout of jobs that do not change the workspace, in milliseconds. */
const TIMEOUT_MS = 10 * 60 * 1000;

/** Largest reply of a worker of another user, which could print anything, in characters. */
const MAX_FOREIGN_REPLY = 64 * 1024 * 1024;

/** Longest wait for a restore when the daemon shuts down, in milliseconds; the whole shutdown may take 4.5 s. */
const SHUTDOWN_WAIT_MS = 2500;

/** Jobs that may be killed at any time: the next one removes their leftovers. A restore is always completed. */
const CAN_BE_ENDED: ReadonlySet<Job['kind']> = new Set(['save', 'diff', 'tidy', 'list']);

/** Runs checkpoint jobs in separate processes. */
export class CheckpointWorkers implements AsyncDisposable {
  readonly #running = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();
  readonly #user: UserLaunch | undefined;

  /** @param user runs the jobs as another user, with its rights alone */
  constructor(user?: UserLaunch) {
    this.#user = user;
  }

  /** Runs a job. Rejects with an AdapterError. */
  readonly run: RunJob = async <K extends Job['kind']>(job: JobOf<K>, options: StoreOptions) => {
    const working =
      job.kind === 'list' && !this.#user
        ? listHere(job as JobOf<'list'>, options)
        : work(job, options, { ending: this.#ending.signal, user: this.#user });
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
    await settledWithin(Promise.allSettled(this.#running), SHUTDOWN_WAIT_MS);
  }
}

/** One short git process: not worth a worker. */
async function listHere(job: JobOf<'list'>, options: StoreOptions): Promise<JobResults['list']> {
  const { runJob } = await import('./store.js');
  return (await runJob(job, options)) as JobResults['list'];
}

async function work<K extends Job['kind']>(
  job: JobOf<K>,
  options: StoreOptions,
  { ending, user }: { readonly ending: AbortSignal; readonly user: UserLaunch | undefined },
): Promise<JobResults[K]> {
  const worker = await startWorker({ job, options }, user);
  const late = AbortSignal.timeout(TIMEOUT_MS);
  // Includes the worker's git processes: they must not continue after their lock is released.
  const endGroup = () => {
    if (worker.pid !== undefined) sendSignal(-worker.pid, 'SIGKILL');
  };
  using cancelled = linkSignals(ending, late);
  if (CAN_BE_ENDED.has(job.kind) || ending.aborted) onAbort(cancelled.signal, endGroup);
  const end = await worker.ended;
  if (end.stdout !== '' && !end.failed) return readReply(end.stdout) as JobResults[K];
  if (ending.aborted) throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
  if (late.aborted) throw new AdapterError('CHECKPOINT_FAILED', `it took longer than ${TIMEOUT_MS / 1000} s`);
  throw lost(end.stderr, end.signal ?? end.exitCode ?? end.originalMessage);
}

/** Starts a worker; it is wrapped, because a promise of a promise would wait for its end. */
async function startWorker(request: WorkerRequest, user: UserLaunch | undefined) {
  // Loaded with the first job: loading takes time that would delay the start of the daemon.
  const { execa } = await import('execa');
  const command = [process.execPath, MAIN];
  const [file = '', ...args] = user?.wrap(command, '/') ?? command;
  const ended = execa(file, args, {
    input: JSON.stringify(request),
    env: {},
    extendEnv: false,
    cwd: '/',
    // Its own process group: neither Ctrl-C at the daemon's terminal nor the daemon's end reaches a restore.
    detached: true,
    cleanup: false,
    reject: false,
    stripFinalNewline: false,
    maxBuffer: user ? MAX_FOREIGN_REPLY : Number.MAX_SAFE_INTEGER,
  });
  return { pid: ended.pid, ended };
}

function readReply(text: string): unknown {
  const reply = parseReply(text);
  if (!('error' in reply)) return reply.result;
  const { code, message, details } = reply.error;
  // A process of another user may say anything.
  throw new AdapterError(Object.hasOwn(ERROR_CATALOGUE, code) ? code : 'INTERNAL', message, details && { details });
}

function parseReply(text: string): WorkerReply {
  try {
    return JSON.parse(text) as WorkerReply;
  } catch (cause) {
    const message = 'the process that works on checkpoints has given no valid reply';
    throw new AdapterError('CHECKPOINT_FAILED', message, { cause });
  }
}

/** Returns the error of a worker that died; mostly the OOM killer has killed it. */
function lost(stderr: string, how: string | number | undefined): AdapterError {
  const lines = stderr.trim().split('\n');
  const said = lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '';
  const message = `the process that works on checkpoints has ended (${how ?? 'unknown'})${said && `: ${said}`}`;
  return new AdapterError('CHECKPOINT_FAILED', message, { details: { stderr: said } });
}
