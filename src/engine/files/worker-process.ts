import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { ERROR_CATALOGUE } from '../../core/error-catalogue.js';
import { AdapterError, type ErrorBody } from '../../core/errors.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { Limits } from '../../core/limits.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import { Command, type CommandSpec } from '../command/command.js';
import type { CommandOutcome } from '../command/outcome.js';
import type { OneShotRunner } from '../one-shot/one-shot.js';
import type { OnLongRunning } from '../one-shot/one-shot-process.js';
import { SpoolBudget } from '../output/spool.js';
import type { StdinPipe, StdinPipes } from '../output/stdin-pipe.js';
import { randomText } from '../system/random.js';
import type { Turns } from '../system/promises.js';
import type { FileWorkReply } from './messages.js';

const MAIN = fileURLToPath(new URL('./worker-main.js', import.meta.url));

/** The part of its stderr that is kept for messages, in characters. */
const TAIL = { maxSize: 4096, beginSize: 0, endSize: 4096 };
const PLAIN = { encoding: 'utf8', stripAnsi: true, collapseCr: true, hint: '' } as const;
/** Output that may wait until it is taken, in bytes: then the program is held. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Where the program runs. */
export interface FileWorkerPlace {
  readonly oneShots: OneShotRunner;
  readonly stdinPipes: StdinPipes;
  /** Bounds the jobs at once of all places; transfers and watches, which may last, are not counted. */
  readonly turns: Turns;
  /** Whose jobs one program may do: those of the same session or principal, sandbox and limits. */
  readonly key: string;
  /** Calls a listener when the session ends, if it is one's. Returns a function that takes it back. */
  readonly onEnd: (listener: () => void) => () => void;
  readonly sandbox: SandboxProfile;
  readonly limits: Limits;
  /** Longest time of a job. */
  readonly timeoutMs: number;
  /** Longest time of a transfer. */
  readonly transferTimeoutMs: number;
  readonly spoolDirectory: string;
  readonly onLongRunning: OnLongRunning;
}

/** The program that works on files, while it runs. */
export class WorkerProcess implements AsyncDisposable {
  readonly stdin: StdinPipe;
  /** Its output, for one reader. */
  readonly stdout: Readable;
  readonly #command: Command;
  readonly #place: FileWorkerPlace;
  #hasEnded = false;

  /** @param isInternal whether it is not counted among the commands that run */
  constructor(place: FileWorkerPlace, { timeoutMs, isInternal }: Pick<CommandSpec, 'timeoutMs' | 'isInternal'>) {
    const { oneShots, stdinPipes, spoolDirectory, sandbox, limits } = place;
    this.#place = place;
    this.stdin = stdinPipes.next();
    const id = commandIdFrom(randomText(ID_BYTES));
    const program = { command: process.execPath, args: [MAIN], env: { NODE_OPTIONS: '' } };
    const spec = { id, ...program, timeoutMs, isInternal, tty: false, sandbox, limits: TAIL, resourceLimits: limits };
    this.#command = new Command({ ...spec, stdinPipe: this.stdin }, { spoolDirectory, budget: new SpoolBudget(0) });
    const hold = (isHeld: boolean) => {
      oneShots.holdForClient(this.#command, isHeld);
    };
    const stdout = new Readable({
      highWaterMark: MAX_WAITING_BYTES,
      read: () => {
        hold(false);
      },
    });
    this.#command.stdout.follow('base64', ({ data }) => {
      if (!stdout.push(data)) hold(true);
    });
    this.#command.atEnd('answer', () => {
      this.#hasEnded = true;
      stdout.push(null);
    });
    this.stdout = stdout;
  }

  /** Whether it has ended, for whatever reason. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Starts the program; what it does then shows by its output. */
  start(): Promise<void> {
    return this.#place.oneShots.run(this.#command, this.#place.onLongRunning);
  }

  /**
   * Reads the first line of its output. It may be of another user: it may say anything.
   * @throws AdapterError what the line says, or why there is none
   */
  async parse(line: string | undefined): Promise<Exclude<FileWorkReply, { error: unknown }>> {
    try {
      const reply = JSON.parse(line ?? '') as FileWorkReply;
      if (!('error' in reply)) return reply;
      throw failureOf(reply.error);
    } catch (cause) {
      if (cause instanceof AdapterError) throw cause;
      throw await this.failure(cause);
    }
  }

  /** Why the output is not what it should be. Ends the program. */
  async failure(cause?: unknown): Promise<AdapterError> {
    this.end();
    const outcome = await this.#command.finished;
    if (outcome.killedBy !== null && outcome.killedBy !== 'client') return ended(outcome);
    const said = this.#command.stderr.render(PLAIN).text.trim().split('\n').at(-1) ?? '';
    const message = `the program that works on files there has ended with ${outcome.exitCode}${said && `: ${said}`}`;
    return new AdapterError('FILE_FAILED', message, {
      cause,
      details: { exit_code: outcome.exitCode, errno: null },
    });
  }

  /** Ends the program, if it still runs. */
  end(): void {
    this.#place.oneShots.terminate(this.#command, { status: 'killed', killedBy: 'client' });
  }

  /** Ends the program, since what it does takes too long. */
  timeOut(): void {
    this.#place.oneShots.terminate(this.#command, { status: 'timed_out', killedBy: 'timeout' });
  }

  /** Resolves when the program has ended. */
  async finished(): Promise<void> {
    await this.#command.finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stdout.destroy();
    this.end();
    await this.#command.finished;
  }
}

function failureOf({ code, message, details }: ErrorBody): AdapterError {
  return new AdapterError(Object.hasOwn(ERROR_CATALOGUE, code) ? code : 'FILE_FAILED', message, details && { details });
}

function ended({ killedBy, breach }: CommandOutcome): AdapterError {
  if (killedBy === 'shutdown') return new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
  const why = breach ? `its limit ${breach.resource}` : String(killedBy);
  return new AdapterError('RESOURCE_EXHAUSTED', `the program that works on files there was ended for ${why}`, {
    details: { killed_by: killedBy },
  });
}
