import { linkSignals } from '../core/abort.js';
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
export type CommandRequest = RequestInput<'execute_command'> & { readonly command_id: string };
