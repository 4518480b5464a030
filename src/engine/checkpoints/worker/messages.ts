import type { ErrorBody } from '../../../core/errors.js';
import type { Job, JobResults, StoreOptions } from '../job.js';

/** What the worker reads on its standard input, as JSON. */
export interface WorkerRequest {
  readonly job: Job;
  readonly options: StoreOptions;
}

/** What it writes on its standard output, as JSON. */
export type WorkerReply = { readonly result: JobResults[Job['kind']] | null } | { readonly error: ErrorBody };
