import type { SignalName } from '../core/signals.js';
import type { Answer, RequestInput } from '../core/protocol/requests.js';
import { CommandOutput } from './output/command-output.js';
import { admitted, type AdmittedResult, ClientError, hasCode } from './contract/errors.js';
import { type AcceptedInput, type InputOptions, sendInput } from './input.js';
import { InputFeed } from './input-feed.js';
import type { InputSource } from './contract/input-source.js';
import type { ClientLink } from './link.js';
import type { RequestOptions } from './contract/options.js';
import type { OutputChunk } from './output/output-queue.js';
import { terminate } from '../core/termination.js';

/**
 * A command under way. Awaiting it gives its result; run with `stream: true`, iterating it gives its output as it comes.
 * A failure is an exit code in the result, not a rejection: only what keeps the result from coming is. A command that has to be
 * confirmed first rejects with a ConfirmationRequiredError.
 */
export class ClientCommand implements PromiseLike<AdmittedResult>, AsyncIterable<OutputChunk> {
  /** Chosen by the client: a request that is sent twice runs once. */
  readonly id: string;
  /** The result; of a background command, how it stood at its start. Rejects with a ClientError, or the abort reason. */
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
    const signal = broken && given ? AbortSignal.any([broken.signal, given]) : (broken?.signal ?? given);
    this.result = this.#run(signal);
    // Who iterates gets the failure there: it is no unhandled one.
    this.result.catch(() => undefined);
    if (this.#output || signal) void this.#accompany(signal);
    if (input) this.#feed(input, broken);
  }

  /** As `result.then`. */
  then<A = AdmittedResult, B = never>(
    onFulfilled?: ((result: AdmittedResult) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result.then(onFulfilled, onRejected);
  }

  /**
   * The output as it comes, both streams, in the order of arrival; of each stream every byte once. Ends when the command
   * has ended and all its output has come. Leaving the loop early leaves the command alone.
   * @throws ClientError NOT_STREAMED
   */
  [Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    if (this.#output) return this.#output.chunks();
    throw new ClientError('NOT_STREAMED', 'to iterate the output of a command, run it with `stream: true`');
  }

  /** Waits for the end of a background command. With `forMs`, gives how it stands after that long at most. */
  wait(options: RequestOptions & { readonly forMs?: number | undefined } = {}): Promise<AdmittedResult> {
    const { forMs, ...requestOptions } = options;
    const answer = this.#link.request('wait_command', { command_id: this.id, timeout_ms: forMs }, requestOptions);
    return answer.then(admitted);
  }

  /**
   * Types into the command's terminal; `eof` then signals the end of input. A command without a session has none. Input that an
   * operator or a model has to confirm is waited for.
   * @throws ConfirmationRequiredError when this client has to confirm it: nothing was typed
   */
  sendInput(data: string, options: InputOptions = {}): Promise<AcceptedInput> {
    return sendInput(this.#link, { command_id: this.id }, data, options);
  }

  /** Sends a signal to what the command has in the foreground. */
  signal(signal: SignalName): Promise<Answer<'signal_command'>> {
    return this.#link.request('signal_command', { command_id: this.id, signal });
  }

  /** Ends the command: SIGINT, then SIGTERM, then SIGKILL, a second apart. Gives its result. */
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
      // An aborted command rejects once it has ended, whichever way it did.
      if (this.#request.background !== true) signal?.throwIfAborted();
      return admitted(result);
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  }

  /** Feeds the command; a source that fails aborts it, for what it got must not pass for the whole. */
  #feed(source: InputSource, broken: AbortController | undefined): void {
    const feed = new InputFeed(this.#link, this.id, source);
    feed.run().catch((error: unknown) => {
      broken?.abort(error);
    });
    const stop = () => {
      feed.stop();
    };
    this.#whenEnded().then(stop, (error: unknown) => {
      // Once it is confirmed it runs, and reads.
      if (!hasCode(error, 'CONFIRMATION_REQUIRED')) stop();
    });
  }

  /** Stays with the command until its end: leads its output, ends it when that is asked for. */
  async #accompany(signal: AbortSignal | undefined): Promise<void> {
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

  /** Sends a signal; gives whether it reached the command. */
  readonly #trySignal = async (signal: SignalName): Promise<boolean> => {
    try {
      await this.signal(signal);
      return true;
    } catch (error) {
      // It has ended, has not started, or the connection has broken: its end tells.
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

/** The request for a command. */
export type CommandRequest = RequestInput<'execute_command'> & { readonly command_id: string };
