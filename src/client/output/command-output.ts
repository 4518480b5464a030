import type { OutputStreamName } from '../../core/protocol/fields.js';
import type { Answer } from '../../core/protocol/requests.js';
import type { CommandResult } from '../../core/protocol/results.js';
import { textOrBytes, wholeCharacters } from '../runtime/bytes.js';
import { ClientError, hasCode } from '../contract/errors.js';
import { type Hole, type OutputChunk, OutputQueue } from './output-queue.js';
import type { Timer } from '../runtime/timer.js';

/** Output that waits for its reader, in bytes; what comes beyond it is fetched when the reader gets there. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
/** How often the output of a command is asked for whose events no longer come, in milliseconds. */
const POLL_MS = 200;

/** Bytes that are fetched at a time; the daemon gives 1 MiB at most. */
const READ_BYTES = 512 * 1024;

const STREAMS = ['stdout', 'stderr'] as const;

/** Asks the daemon for bytes of the command's output. */
export type OutputReader = (
  stream: OutputStreamName,
  offset: number,
  length: number,
) => Promise<Pick<Answer<'read_output'>, 'data'>>;

/**
 * The output of one command as it comes: every byte of both streams once and in order, whatever happens to the
 * connection. Events are taken as far as they come; what they leave out is read from the daemon.
 */
export class CommandOutput {
  readonly #read: OutputReader;
  readonly #queue = new OutputQueue(MAX_BUFFERED_BYTES);
  /** Whether some output may be there of which nothing tells: looked up once. */
  #mayHaveMissed = false;
  /** Whether no events come any more. */
  #isPolled = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;
  #isTaken = false;

  constructor(read: OutputReader) {
    this.#read = read;
  }

  /** Takes an event. */
  push(chunk: OutputChunk): void {
    this.#queue.push(chunk);
    this.#wake();
  }

  /** Events have been left out. */
  noteGap(): void {
    this.#mayHaveMissed = true;
    this.#wake();
  }

  /** No events will come any more, though the command may go on. */
  noteUnfollowed(): void {
    this.#isPolled = true;
    this.#wake();
  }

  /** The command has ended. */
  finish(result: Pick<CommandResult, 'stdout_bytes' | 'stderr_bytes'>): void {
    this.#queue.finish({ stdout: result.stdout_bytes, stderr: result.stderr_bytes });
    this.#wake();
  }

  /** Nothing more can be learnt of the command: the reader gets what is there, and the error. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake();
  }

  /**
   * The chunks, until the command has ended and all of its output has come.
   * @throws ClientError NOT_STREAMED the second time, OUTPUT_EXPIRED when the daemon no longer has what is missing
   */
  async *chunks(): AsyncGenerator<OutputChunk, void, undefined> {
    if (this.#isTaken) throw new ClientError('NOT_STREAMED', 'the output of a command can be iterated once');
    this.#isTaken = true;
    try {
      while (!this.#queue.isDone) {
        const entry = this.#queue.first;
        if (entry?.kind === 'chunk') {
          this.#queue.takeChunk();
          yield entry.chunk;
        } else if (this.#failure) {
          throw this.#failure.error;
        } else if (entry) {
          yield* this.#fetch(entry.hole);
        } else {
          await this.#wait();
        }
      }
    } finally {
      this.#queue.close();
    }
  }

  /** Gives a part of the hole at the front of the queue, or all of it. */
  async *#fetch(hole: Hole): AsyncGenerator<OutputChunk, void, undefined> {
    const { stream, offset, end } = hole;
    const { data } = await this.#read(stream, offset, Math.min(end - offset, READ_BYTES));
    if (data.length === 0) {
      throw new ClientError('OUTPUT_EXPIRED', `the daemon no longer has ${stream} from byte ${offset} to ${end}`, {
        details: { stream, offset, end },
      });
    }
    const isWhole = offset + data.length >= end;
    const bytes = isWhole ? data : wholeCharacters(data);
    this.#queue.fillHole(offset + bytes.length);
    yield { stream, offset, data: textOrBytes(bytes) };
  }

  /** Waits until something may be there to read. */
  async #wait(): Promise<void> {
    if (this.#mayHaveMissed || this.#isPolled) {
      this.#mayHaveMissed = false;
      await Promise.all(STREAMS.map((stream) => this.#lookUp(stream)));
    }
    if (this.#hasNews()) return;
    let timer: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#isPolled) timer = setTimeout(resolve, POLL_MS);
    });
    this.#wake = () => undefined;
    clearTimeout(timer);
  }

  #hasNews(): boolean {
    return this.#queue.first !== undefined || this.#queue.isDone || this.#failure !== undefined || this.#mayHaveMissed;
  }

  /** Takes what the daemon has of a stream beyond what has come. */
  async #lookUp(stream: OutputStreamName): Promise<void> {
    const offset = this.#queue.endOf(stream);
    try {
      const { data } = await this.#read(stream, offset, READ_BYTES);
      const bytes = wholeCharacters(data);
      if (bytes.length > 0) this.#queue.push({ stream, offset, data: textOrBytes(bytes) });
    } catch (error) {
      // Where events come, they may bring what the daemon has not kept. An unknown command has its result coming.
      const isHopeless = this.#isPolled && hasCode(error, 'OUTPUT_EXPIRED');
      if (isHopeless || !(error instanceof ClientError)) throw error;
    }
  }
}
