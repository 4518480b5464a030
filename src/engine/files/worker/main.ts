import { readFileSync, writeSync } from 'node:fs';

import { AdapterError } from '../../../core/errors.js';
import { here } from '../perform.js';
import { type FileWorkReply, type FileWorkRequest, joinMessage, splitMessage } from './messages.js';

/*
 * The program that does one job about files in the sandbox of a session, or as another user: so that the kernel allows it what
 * it allows the commands there.
 */

const STDIN = 0;
const STDOUT = 1;
const NO_DATA = new Uint8Array();

void work();

async function work(): Promise<void> {
  const { reply, data } = await answer();
  for (const part of joinMessage(reply, data)) writeAll(part);
}

async function answer(): Promise<{ readonly reply: FileWorkReply; readonly data: Uint8Array }> {
  try {
    const { head, rest } = splitMessage(readFileSync(STDIN));
    const result = await here.perform((head as FileWorkRequest).job, rest);
    if (!('data' in result)) return { reply: { result }, data: NO_DATA };
    return { reply: { result: { ...result, data: NO_DATA } }, data: result.data };
  } catch (error) {
    const failure =
      error instanceof AdapterError ? error : new AdapterError('RESOURCE_EXHAUSTED', (error as Error).message);
    return { reply: { error: failure.toBody() }, data: NO_DATA };
  }
}

function writeAll(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(STDOUT, bytes, written);
}
