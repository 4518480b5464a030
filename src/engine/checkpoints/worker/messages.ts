import type { ErrorBody } from '../../../core/errors.js';
import type { Job, JobResults, StoreOptions } from '../job.js';

/** Request on the worker's standard input, as JSON. */
export interface WorkerRequest {
  readonly job: Job;
  readonly options: StoreOptions;
}

/** Reply on its standard output, as JSON. */
export type WorkerReply = { readonly result: JobResults[Job['kind']] | null } | { readonly error: ErrorBody };
