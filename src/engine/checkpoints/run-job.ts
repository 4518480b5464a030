import { AdapterError, type ErrorBody } from '../../core/errors.js';
import type { Job, JobResults, StoreOptions } from './job.js';
import { CheckpointStore } from './store.js';

/**
 * Runs a job, in this process.
 * @throws AdapterError
 */
export async function runJob(job: Job, options: StoreOptions): Promise<JobResults[Job['kind']]> {
  try {
    return await start(job, options);
  } catch (error) {
    throw asAdapterError(error);
  }
}

function start(job: Job, options: StoreOptions): Promise<JobResults[Job['kind']]> {
  switch (job.kind) {
    case 'list':
      return CheckpointStore.list(options, job);
    case 'recover':
      return CheckpointStore.recover(options);
    case 'save':
      return CheckpointStore.use(options, (store) => store.save(job));
    case 'diff':
      return CheckpointStore.use(options, (store) => store.diff(job));
    case 'restore':
      return CheckpointStore.use(options, (store) => store.restore(job));
    case 'tidy':
      return CheckpointStore.use(options, (store) => store.tidy());
  }
}

/**
 * Converts system errors: mostly those of the disk with the checkpoints, since unreadable workspace entries are
 * skipped.
 */
function asAdapterError(error: unknown): AdapterError {
  if (error instanceof AdapterError) return error;
  const { code, message }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
  if (code !== undefined && ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(code)) {
    return new AdapterError('RESOURCE_EXHAUSTED', `the machine is out of resources: ${message}`, {
      details: { errno: code },
      cause: error,
    });
  }
  return new AdapterError('CHECKPOINT_FAILED', message, { details: { errno: code ?? null }, cause: error });
}

/** Request on the worker's standard input, as JSON. */
export interface WorkerRequest {
  readonly job: Job;
  readonly options: StoreOptions;
}

/** Reply on its standard output, as JSON. */
export type WorkerReply = { readonly result: JobResults[Job['kind']] | null } | { readonly error: ErrorBody };
