import { constants, getPriority, setPriority } from 'node:os';
import { text } from 'node:stream/consumers';

import { AdapterError } from '../../core/errors.js';
import { closeInheritedTerminals } from '../process/find-processes.js';
import type { WorkerReply, WorkerRequest } from './job.js';
import { runJob } from './store.js';

/*
 * The checkpoint worker: runs one job and exits. A separate process, because walking through 50,000 files blocks a
 * thread that the daemon needs for its clients; and so that a restore is completed even when the daemon ends.
 */

/**
 * How much nicer than the daemon the worker is. Sessions have priority, but a client waits for this too: under load the
 * worker gets a third of their share of the CPU. An ordinary user can only become nicer.
 */
const ADDED_NICENESS = 5;

closeInheritedTerminals();
setPriority(Math.min(getPriority() + ADDED_NICENESS, constants.priority.PRIORITY_LOW));

void work();

async function work(): Promise<void> {
  // Not in one synchronous read: the input of a busy daemon comes later, and the pipe does not block.
  const reply = JSON.stringify(await answer(JSON.parse(await text(process.stdin)) as WorkerRequest));
  // EPIPE: the daemon has ended. The job is done.
  process.stdout.on('error', () => undefined);
  process.stdout.write(reply);
}

async function answer({ job, options }: WorkerRequest): Promise<WorkerReply> {
  try {
    return { result: (await runJob(job, options)) ?? null };
  } catch (error) {
    const failure = error instanceof AdapterError ? error : new AdapterError('INTERNAL', String(error));
    return { error: failure.toBody() };
  }
}
