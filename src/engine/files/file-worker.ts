import { fileURLToPath } from 'node:url';

import { ERROR_CATALOGUE } from '../../core/error-catalogue/catalogue.js';
import { AdapterError } from '../../core/errors.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { Limits } from '../../core/limits/limits.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { Command, type CommandOutcome } from '../command/command.js';
import type { OneShotRunner } from '../one-shot/one-shot.js';
import type { OnLongRunning } from '../one-shot/one-shot-limit-target.js';
import { SpoolBudget } from '../output/spool.js';
import type { StdinPipes } from '../output/stdin-pipes.js';
import { randomText } from '../system/random.js';
import type { FileJobKind, FileJobOf, FilePerformer, FileResult } from './file-job.js';
import { type FileWorkReply, joinMessage, splitMessage } from './worker/messages.js';

const MAIN = fileURLToPath(new URL('./worker/main.js', import.meta.url));

/** Longest output of the program, in bytes: the largest part of a file, and a listing of the longest names. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;
/** The part of its stderr that is kept for messages, in characters. */
const TAIL = { maxSize: 4096, beginSize: 0, endSize: 4096 };
const PLAIN = { encoding: 'utf8', stripAnsi: true, collapseCr: true, hint: '' } as const;

/** Where the program runs. */
export interface FileWorkerPlace {
  readonly oneShots: OneShotRunner;
  readonly stdinPipes: StdinPipes;
  readonly sandbox: SandboxProfile;
  readonly limits: Limits;
  readonly timeoutMs: number;
  readonly spoolDirectory: string;
  readonly onLongRunning: OnLongRunning;
}

/** Does jobs in a program of its own, which is started like a command: in a sandbox, or as another user, and with its limits. */
export class FileWorker implements FilePerformer {
  readonly #place: FileWorkerPlace;

  constructor(place: FileWorkerPlace) {
    this.#place = place;
  }

  async perform<K extends FileJobKind>(job: FileJobOf<K>, content = new Uint8Array()): Promise<FileResult<K>> {
    const { oneShots, stdinPipes, spoolDirectory, onLongRunning } = this.#place;
    const stdinPipe = stdinPipes.next();
    for (const part of joinMessage({ job }, content)) stdinPipe.write(part);
    stdinPipe.end();
    const command = new Command({ ...this.#spec(), stdinPipe }, { spoolDirectory, budget: new SpoolBudget(0) });
    const pieces: Uint8Array[] = [];
    command.stdout.follow('base64', ({ data }) => {
      if (command.stdout.bytes <= MAX_REPLY_BYTES) pieces.push(data as Uint8Array);
      else oneShots.terminate(command, { status: 'killed', killedBy: 'client' });
    });
    await oneShots.run(command, onLongRunning);
    const outcome = await command.finished;
    return readReply<K>(Buffer.concat(pieces), outcome, command.stderr.render(PLAIN).text);
  }

  #spec() {
    const { sandbox, limits, timeoutMs } = this.#place;
    const id = commandIdFrom(randomText(ID_BYTES));
    const program = { command: process.execPath, args: [MAIN], env: { NODE_OPTIONS: '' } };
    return { id, ...program, timeoutMs, tty: false, sandbox, limits: TAIL, resourceLimits: limits };
  }
}

/** Reads what the program has printed. It may be of another user: it may say anything. */
function readReply<K extends FileJobKind>(bytes: Buffer, outcome: CommandOutcome, stderr: string): FileResult<K> {
  if (outcome.killedBy !== null) throw ended(outcome);
  const { reply, rest } = parseReply(bytes, outcome, stderr);
  if ('error' in reply) {
    const { code, message, details } = reply.error;
    throw new AdapterError(
      Object.hasOwn(ERROR_CATALOGUE, code) ? code : 'FILE_FAILED',
      message,
      details && { details },
    );
  }
  const { result } = reply;
  return 'data' in result ? { ...result, data: rest } : result;
}

function parseReply(bytes: Buffer, { exitCode }: CommandOutcome, stderr: string) {
  try {
    const { head, rest } = splitMessage(bytes);
    return { reply: head as FileWorkReply, rest };
  } catch (cause) {
    const said = stderr.trim().split('\n').at(-1) ?? '';
    const message = `the program that works on files there has ended with ${exitCode}${said && `: ${said}`}`;
    throw new AdapterError('FILE_FAILED', message, { cause, details: { exit_code: exitCode, errno: null } });
  }
}

function ended({ killedBy, breach }: CommandOutcome): AdapterError {
  if (killedBy === 'shutdown') return new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
  const why = breach ? `its limit ${breach.resource}` : String(killedBy);
  return new AdapterError('RESOURCE_EXHAUSTED', `the program that works on files there was ended for ${why}`, {
    details: { killed_by: killedBy },
  });
}
