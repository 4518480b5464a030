import type { Answer, RequestInput } from '../core/protocol/requests.js';
import type { ClientLink } from './link.js';
import { randomCallId } from './runtime.js';

/** A conversation: a single question, or messages with roles. */
export type LlmMessages = string | RequestInput<'llm_call'>['messages'];

/** Options of an LLM call. */
export interface LlmOptions {
  /** The provider. Default: that of the daemon's configuration. */
  readonly provider?: RequestInput<'llm_call'>['provider'];
  /** The command-line tool. Default: the first one that works. */
  readonly shellProvider?: string | undefined;
  /** The model. Default: that of the provider. */
  readonly model?: string | undefined;
  /** Time limit of the answer, in milliseconds. Default: that of the provider. */
  readonly timeoutMs?: number | undefined;
  /** Working directory of a tool, within the workspace. Default: the workspace. */
  readonly cwd?: string | undefined;
  /** Aborting it ends the call and all processes of a tool. */
  readonly signal?: AbortSignal | undefined;
}

/** Calls an LLM; returns its answer. */
export function askLlm(link: ClientLink, messages: LlmMessages, options: LlmOptions): Promise<Answer<'llm_call'>> {
  const request = llmRequest(messages, options);
  return withCancellation(link, request.call_id, options.signal, () =>
    link.request('llm_call', request, { signal: options.signal }),
  );
}

/** A streamed answer. Iterating it yields its pieces as they arrive, awaiting it returns the whole. */
export class LlmStream implements PromiseLike<Answer<'llm_stream'>>, AsyncIterable<string> {
  /** The answer. Rejects with a ClientError, or the abort reason. */
  readonly result: Promise<Answer<'llm_stream'>>;
  readonly #chunks: string[] = [];
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(link: ClientLink, messages: LlmMessages, options: LlmOptions) {
    const request = llmRequest(messages, options);
    const unsubscribe = link.router.listeners.add('llm_chunk', ({ call_id: id, content }) => {
      if (id !== request.call_id) return;
      this.#chunks.push(content);
      this.#wake();
    });
    this.result = withCancellation(link, request.call_id, options.signal, () =>
      link.request('llm_stream', request, { signal: options.signal }),
    ).finally(() => {
      unsubscribe();
      this.#hasEnded = true;
      this.#wake();
    });
    // The iterator reports the failure too: without a handler it would be an unhandled rejection.
    this.result.catch(() => undefined);
  }

  /** As `result.then`. */
  then<A = Answer<'llm_stream'>, B = never>(
    onFulfilled?: ((answer: Answer<'llm_stream'>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result.then(onFulfilled, onRejected);
  }

  /** Yields the pieces that have not been read yet, until the answer is complete. Throws what `result` rejects with. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#hasEnded) break;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    await this.result;
  }
}

type LlmRequest = RequestInput<'llm_call'> & { readonly call_id: string };

function llmRequest(messages: LlmMessages, options: LlmOptions): LlmRequest {
  const { provider, shellProvider, model, timeoutMs, cwd } = options;
  return {
    messages: typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages,
    provider,
    shell_provider: shellProvider,
    model,
    timeout_ms: timeoutMs === undefined ? undefined : Math.ceil(timeoutMs),
    cwd,
    call_id: randomCallId(),
  };
}

/** Cancels the call in the daemon when the signal is aborted: the request itself rejects at once. */
async function withCancellation<T>(
  link: ClientLink,
  callId: string,
  signal: AbortSignal | undefined,
  ask: () => Promise<T>,
): Promise<T> {
  const cancel = () => {
    // Without a connection the request cannot be sent; the daemon cancels the call when it notices the disconnection.
    link.request('cancel_llm', { call_id: callId }, { isBound: true }).catch(() => undefined);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await ask();
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}
