import type { OutputStreamName } from '../core/protocol/fields.js';
import type { Answer } from '../core/protocol/requests.js';
import type { CommandResult } from '../core/protocol/results.js';
import { ClientError, hasCode } from './errors.js';
import { type Hole, type OutputChunk, OutputQueue } from './output-queue.js';
import { textOrBytes, type Timer, wholeCharacters } from './runtime.js';

/** Most bytes of output that wait for the reader; data beyond that is fetched when the reader reaches it. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
/** Poll interval of a command without events, in milliseconds. */
const POLL_MS = 200;

/** Bytes per fetch; the daemon returns at most 1 MiB. */
const READ_BYTES = 512 * 1024;

const STREAMS = ['stdout', 'stderr'] as const;

/** Reads bytes of the command's output from the daemon. */
type OutputReader = (
  stream: OutputStreamName,
  offset: number,
  length: number,
) => Promise<Pick<Answer<'read_output'>, 'data'>>;

/**
 * The output of one command: every byte of both streams once and in order, even across reconnections. Data arrives in
 * events; gaps between them are read from the daemon.
 */
export class CommandOutput {
  readonly #read: OutputReader;
  readonly #queue = new OutputQueue(MAX_BUFFERED_BYTES);
  /** Whether output may exist that no event has announced; it is looked up once. */
  #mayHaveMissed = false;
  /** Whether events have stopped, so that the output is polled. */
  #isPolled = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;
  #isTaken = false;

  constructor(read: OutputReader) {
    this.#read = read;
  }

  /** Adds the data of an event. */
  push(chunk: OutputChunk): void {
    this.#queue.push(chunk);
    this.#wake();
  }

  /** Notes that events were dropped. */
  noteGap(): void {
    this.#mayHaveMissed = true;
    this.#wake();
  }

  /** Notes that no more events will arrive, although the command may still run. */
  noteUnfollowed(): void {
    this.#isPolled = true;
    this.#wake();
  }

  /** Notes the end of the command. */
  finish(result: Pick<CommandResult, 'stdout_bytes' | 'stderr_bytes'>): void {
    this.#queue.finish({ stdout: result.stdout_bytes, stderr: result.stderr_bytes });
    this.#wake();
  }

  /** Notes that the state of the command is no longer known: the reader gets the available data, then the error. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake();
  }

  /**
   * Yields the chunks, until the command has ended and all of its output has arrived.
   * @throws ClientError NOT_STREAMED the second time, OUTPUT_EXPIRED when the daemon no longer has the missing data
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

  /** Yields at least a part of the hole at the front of the queue. */
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

  /** Waits until data may be available. */
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

  /** Reads the data of a stream after the last known position. */
  async #lookUp(stream: OutputStreamName): Promise<void> {
    const offset = this.#queue.endOf(stream);
    try {
      const { data } = await this.#read(stream, offset, READ_BYTES);
      const bytes = wholeCharacters(data);
      if (bytes.length > 0) this.#queue.push({ stream, offset, data: textOrBytes(bytes) });
    } catch (error) {
      // While events arrive, they may bring data that the daemon has not kept. For an unknown command the result
      // follows.
      const isHopeless = this.#isPolled && hasCode(error, 'OUTPUT_EXPIRED');
      if (isHopeless || !(error instanceof ClientError)) throw error;
    }
  }
}
