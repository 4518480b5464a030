import { linkSignals } from '../core/abort.js';
import type { Answer, CommandInput, RequestInput } from '../core/protocol/requests.js';
import { type SignalName, terminate } from '../core/signals.js';
import { accepted, admitted, type AdmittedResult, ClientError, hasCode } from './errors.js';
import type { InputSource, RequestOptions } from './options.js';
import type { ClientLink } from './link.js';
import { CommandOutput } from './command-output.js';
import type { OutputChunk } from './output-queue.js';

/** Options of typed input. */
export interface InputOptions {
  /** Keys to press after the data, such as `Up`, `F5`, `C-c` and `M-x`. */
  readonly keys?: readonly string[] | undefined;
  /**
   * Signal the end of input after the data.
   * @default false
   */
  readonly eof?: boolean | undefined;
}

/** Acknowledgement of typed input. */
export interface AcceptedInput {
  /** Number of bytes that the terminal has accepted. */
  readonly accepted_bytes: number;
}

/**
 * Types into the terminal of a command, or of the running command of a session. The answer has no time limit: a person
 * may have to confirm the input first.
 * @throws ClientError, ConfirmationRequiredError
 */
export async function sendInput(
  link: ClientLink,
  target: Pick<RequestInput<'send_input'>, 'command_id' | 'session_id'>,
  data: string,
  { eof, keys }: InputOptions,
): Promise<AcceptedInput> {
  return accepted(
    await link.request(
      'send_input',
      { ...target, data, eof, ...(keys && { keys: [...keys] }) },
      { timeoutMs: Infinity },
    ),
  );
}

/** Largest chunk, in bytes: larger ones are no faster. */
const CHUNK_BYTES = 256 * 1024;
/** Size of a request on the wire besides its data, in bytes, with a margin. */
const ENVELOPE_BYTES = 512;
/** Number of chunks in flight: enough that neither side waits for the other. */
const WINDOW = 4;
/** Pause before an early chunk is sent again, in milliseconds, when the daemon gives none. */
const RETRY_MS = 100;

const encoder = new TextEncoder();

/** Sends a source to the streamed standard input of a command, with backpressure: buffers at most about 1 MiB. */
class InputFeed {
  readonly #link: ClientLink;
  readonly #commandId: string;
  readonly #source: InputSource;
  readonly #waiters: (() => void)[] = [];
  readonly #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  #offset = 0;
  #inFlight = 0;
  #chunkBytes = CHUNK_BYTES;
  #failure: { readonly error: unknown } | undefined;
  #isStopped = false;

  constructor(link: ClientLink, commandId: string, source: InputSource) {
    this.#link = link;
    this.#commandId = commandId;
    this.#source = source;
  }

  /**
   * Feeds the command until the source ends or the command closes its input. Rejects when the source fails or the
   * connection is closed permanently.
   */
  async run(): Promise<void> {
    const iterator = this.#source[Symbol.asyncIterator]();
    try {
      const { limits } = await this.#link.request('shell_metadata', {});
      this.#chunkBytes = Math.min(CHUNK_BYTES, Math.max(1, limits.max_message_bytes - ENVELOPE_BYTES));
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        await this.#enqueue(next.value);
        if (this.#isStopped) break;
      }
      await this.#finish();
    } catch (error) {
      // A source that was closed because the command has ended may fail for that reason.
      if (!this.#isStopped) throw error;
    } finally {
      if (this.#isStopped) release(this.#source, iterator);
      this.#isStopped = true;
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** Stops sending, because the command has ended. A Node.js stream is destroyed. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const wake of this.#waiters.splice(0)) wake();
    destroy(this.#source);
  }

  async #enqueue(piece: Uint8Array | string): Promise<void> {
    const bytes = typeof piece === 'string' ? encoder.encode(piece) : piece;
    this.#pieces.push(bytes);
    this.#pieceBytes += bytes.length;
    while (this.#pieceBytes >= this.#chunkBytes) await this.#sendNext();
    // Otherwise the next answer triggers the sending.
    if (this.#inFlight === 0) await this.#sendNext();
  }

  async #finish(): Promise<void> {
    while (this.#pieceBytes > 0) await this.#sendNext();
    await this.#room(1);
    if (!this.#isStopped) await this.#send(new Uint8Array(0), true);
  }

  /** Takes up to one chunk of the buffered data. */
  #takeChunk(): Uint8Array {
    const length = Math.min(this.#pieceBytes, this.#chunkBytes);
    const chunk = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const piece = this.#pieces.shift() ?? new Uint8Array(0);
      const part = piece.subarray(0, length - filled);
      chunk.set(part, filled);
      filled += part.length;
      if (part.length < piece.length) this.#pieces.unshift(piece.subarray(part.length));
    }
    this.#pieceBytes -= length;
    return chunk;
  }

  async #sendNext(): Promise<void> {
    await this.#room(WINDOW);
    if (this.#isStopped) this.#pieceBytes = 0;
    else if (this.#pieceBytes > 0) void this.#send(this.#takeChunk(), false);
  }

  /** Resolves when fewer than `count` chunks are in flight. */
  async #room(count: number): Promise<void> {
    while (this.#inFlight >= count && !this.#isStopped) await new Promise<void>((wake) => this.#waiters.push(wake));
  }

  async #send(data: Uint8Array, eof: boolean): Promise<void> {
    const offset = this.#offset;
    this.#offset += data.length;
    this.#inFlight += 1;
    try {
      const { stdin_closed: isClosed } = await this.#request({ command_id: this.#commandId, data, offset, eof });
      if (isClosed === true) this.#isStopped = true;
    } catch (error) {
      // The command has ended, so the rest is not needed: its own answer reports the reason.
      if (!this.#isStopped && !hasCode(error, ...NO_COMMAND)) this.#failure = { error };
      this.#isStopped = true;
    }
    this.#inFlight -= 1;
    for (const wake of this.#waiters.splice(0)) wake();
    if (this.#inFlight === 0 && this.#pieceBytes > 0) await this.#sendNext();
  }

  /**
   * Sends a chunk; repeats it when it was early: the rate limit applies, or an earlier chunk has yet to be repeated.
   */
  async #request(chunk: RequestInput<'send_input'>): Promise<Answer<'send_input'>> {
    for (;;) {
      try {
        return await this.#link.request('send_input', chunk, { timeoutMs: Infinity });
      } catch (error) {
        const isEarly =
          hasCode(error, 'RATE_LIMITED') ||
          (hasCode(error, 'INVALID_REQUEST') && error.details?.['field'] === 'offset');
        if (!isEarly || this.#isStopped) throw error;
        const { retry_after_ms: afterMs = RETRY_MS } = error.details as { readonly retry_after_ms?: number };
        await new Promise((resolve) => setTimeout(resolve, afterMs));
      }
    }
  }
}

const NO_COMMAND = ['NO_RUNNING_COMMAND', 'COMMAND_NOT_FOUND', 'SESSION_NOT_FOUND'] as const;

/** Closes a source before its end. Does not await it: a generator may be blocked. */
function release(source: InputSource, iterator: AsyncIterator<Uint8Array | string>): void {
  if (!destroy(source)) void iterator.return?.().catch(() => undefined);
}

/** Destroys a Node.js stream; returns false for any other source. */
function destroy(source: InputSource): boolean {
  const { destroy: end } = source as { readonly destroy?: unknown };
  if (typeof end !== 'function') return false;
  end.call(source);
  return true;
}

/**
 * A running command. Awaiting it returns its result; with `stream: true`, iterating it yields its output as it arrives.
 * A failed command resolves with its exit code; it rejects only when there is no result. A command that has to be
 * confirmed first rejects with a ConfirmationRequiredError.
 */
export class ClientCommand implements PromiseLike<AdmittedResult>, AsyncIterable<OutputChunk> {
  /** Chosen by the client, which makes the request idempotent: a repeated request runs the command once. */
  readonly id: string;
  /** The result; for a background command, its state at the start. Rejects with a ClientError, or the abort reason. */
  readonly result: Promise<AdmittedResult>;
  readonly #link: ClientLink;
  readonly #request: CommandRequest;
  readonly #output: CommandOutput | undefined;
  #ended: Promise<AdmittedResult> | undefined;

  constructor(link: ClientLink, request: CommandRequest, given: AbortSignal | undefined, input?: InputSource) {
    this.#link = link;
    this.#request = request;
    this.id = request.command_id;
    this.#output = request.stream === true ? this.#followOutput() : undefined;
    const broken = input && new AbortController();
    const linked = broken && linkSignals(broken.signal, given);
    const signal = linked?.signal ?? given;
    this.result = this.#run(signal);
    // The iterator reports the failure too: without a handler it would be an unhandled rejection.
    this.result.catch(() => undefined);
    if (this.#output || signal) void this.#follow(signal);
    if (input) this.#feed(input, broken);
    const unlink = () => linked?.[Symbol.dispose]();
    this.#whenEnded().then(unlink, unlink);
  }

  /** As `result.then`. */
  then<A = AdmittedResult, B = never>(
    onFulfilled?: ((result: AdmittedResult) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result.then(onFulfilled, onRejected);
  }

  /**
   * The output in the order of arrival: both streams, every byte once. Ends when the command has ended and all its
   * output has arrived. Leaving the loop early does not affect the command.
   * @throws ClientError NOT_STREAMED
   */
  [Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    if (this.#output) return this.#output.chunks();
    throw new ClientError('NOT_STREAMED', 'to iterate the output of a command, run it with `stream: true`');
  }

  /** Waits for the end of a background command. With `forMs`, returns its state after that time at the latest. */
  wait(options: RequestOptions & { readonly forMs?: number | undefined } = {}): Promise<AdmittedResult> {
    const { forMs, ...requestOptions } = options;
    const answer = this.#link.request('wait_command', { command_id: this.id, timeout_ms: forMs }, requestOptions);
    return answer.then(admitted);
  }

  /**
   * Types into the command's terminal; `eof` then signals the end of input. A command without a session has no
   * terminal. Input that an operator or a model has to confirm waits for the decision.
   * @throws ConfirmationRequiredError when this client has to confirm it: nothing was typed
   */
  sendInput(data: string, options: InputOptions = {}): Promise<AcceptedInput> {
    return sendInput(this.#link, { command_id: this.id }, data, options);
  }

  /** Sends a signal to the foreground processes of the command. */
  signal(signal: SignalName): Promise<Answer<'signal_command'>> {
    return this.#link.request('signal_command', { command_id: this.id, signal });
  }

  /** Ends the command: SIGINT, then SIGTERM, then SIGKILL, a second apart. Returns its result. */
  async cancel(): Promise<AdmittedResult> {
    const ended = this.#whenEnded();
    await terminate(this.#trySignal, ended);
    return ended;
  }

  async #run(signal: AbortSignal | undefined): Promise<AdmittedResult> {
    const options = { signal, abortsUnsentOnly: true };
    try {
      const result = await this.#link.request('execute_command', this.#request, options);
      this.#link.noteAnswered(this.id);
      // An aborted command rejects once it has ended, whatever its result.
      if (this.#request.background !== true) signal?.throwIfAborted();
      return admitted(result);
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  }

  /** Feeds the command. A source that fails aborts it: a truncated input must not pass for a complete one. */
  #feed(source: InputSource, broken: AbortController | undefined): void {
    const feed = new InputFeed(this.#link, this.id, source);
    feed.run().catch((error: unknown) => {
      broken?.abort(error);
    });
    const stop = () => {
      feed.stop();
    };
    this.#whenEnded().then(stop, (error: unknown) => {
      // After its confirmation the command runs and reads its input.
      if (!hasCode(error, 'CONFIRMATION_REQUIRED')) stop();
    });
  }

  /** Follows the command until its end: routes its output, and cancels it when the signal is aborted. */
  async #follow(signal: AbortSignal | undefined): Promise<void> {
    const ended = this.#whenEnded();
    const onAbort = () => {
      void terminate(this.#trySignal, ended);
    };
    if (signal?.aborted !== true) signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const result = await ended;
      signal?.throwIfAborted();
      this.#output?.finish(result);
    } catch (error) {
      this.#output?.fail(error);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#link.router.leaveCommand(this.id);
    }
  }

  #whenEnded(): Promise<AdmittedResult> {
    this.#ended ??= this.#request.background === true ? this.result.then(() => this.wait()) : this.result;
    this.#ended.catch(() => undefined);
    return this.#ended;
  }

  /** Sends a signal; returns whether it reached the command. */
  readonly #trySignal = async (signal: SignalName): Promise<boolean> => {
    try {
      await this.signal(signal);
      return true;
    } catch (error) {
      // The command has ended or not started, or the connection is lost: `result` reports which.
      if (error instanceof ClientError) return false;
      throw error;
    }
  };

  #followOutput(): CommandOutput {
    const output = new CommandOutput((stream, offset, length) =>
      this.#link.request('read_output', { command_id: this.id, stream, offset, length }, { timeoutMs: Infinity }),
    );
    this.#link.router.followCommand(this.id, this.#request.session_id ?? null, output);
    return output;
  }
}

/** Request that runs a command; the id is required. */
type CommandRequest = CommandInput & { readonly command_id: string };
