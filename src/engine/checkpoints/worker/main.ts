import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

import { AdapterError } from '../../../core/errors.js';
import { closeInheritedTerminals } from '../../process/inherited-terminals.js';
import type { WorkerReply, WorkerRequest } from './messages.js';
import { runJob } from './run-job.js';

/*
 * The checkpoint worker: does one job and ends. A process of its own, because walking through 50,000 files keeps a thread
 * busy that the daemon needs for its clients; and so that a restore is completed whatever becomes of the daemon.
 */

/** Sessions come first, but somebody waits for this too: it gets a third of what they get of a busy processor. */
const NICENESS = 5;

closeInheritedTerminals();
setPriority(NICENESS);

const STDIN = 0;

const { job, options } = JSON.parse(readFileSync(STDIN, 'utf8')) as WorkerRequest;
const reply = JSON.stringify(await answer());
// EPIPE: the daemon has ended. What was to be done is done.
process.stdout.on('error', () => undefined);
process.stdout.write(reply);

async function answer(): Promise<WorkerReply> {
  try {
    return { result: (await runJob(job, options)) ?? null };
  } catch (error) {
    const failure = error instanceof AdapterError ? error : new AdapterError('INTERNAL', String(error));
    return { error: failure.toBody() };
  }
}
