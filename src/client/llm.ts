import type { Answer, RequestInput } from '../core/protocol/requests.js';
import type { ClientLink } from './link.js';
import { randomCallId } from './runtime/random-id.js';

/** A conversation: a question alone, or messages with their roles. */
export type LlmMessages = string | RequestInput<'llm_call'>['messages'];

/** How an LLM is asked. */
export interface LlmOptions {
  /** Who answers. Default: as the daemon is configured. */
  readonly provider?: RequestInput<'llm_call'>['provider'];
  /** Which command-line tool answers. Default: the first that can. */
  readonly shellProvider?: string | undefined;
  /** Default: the provider's. */
  readonly model?: string | undefined;
  /** Most time the answer may take, in milliseconds. Default: the provider's. */
  readonly timeoutMs?: number | undefined;
  /** Where a tool runs, within the workspace. Default: the workspace. */
  readonly cwd?: string | undefined;
  /** Aborting it ends the call, with all processes of a tool. */
  readonly signal?: AbortSignal | undefined;
}

/** Asks an LLM; gives its answer. */
export function askLlm(link: ClientLink, messages: LlmMessages, options: LlmOptions): Promise<Answer<'llm_call'>> {
  const request = llmRequest(messages, options);
  return withCancellation(link, request.call_id, options.signal, () =>
    link.request('llm_call', request, { signal: options.signal }),
  );
}

/** An answer under way. Iterating it gives its pieces as they come, awaiting it the whole. */
export class LlmStream implements PromiseLike<Answer<'llm_stream'>>, AsyncIterable<string> {
  /** The answer. Rejects with a ClientError, or the abort reason. */
  readonly result: Promise<Answer<'llm_stream'>>;
  readonly #chunks: string[] = [];
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(link: ClientLink, messages: LlmMessages, options: LlmOptions) {
    const request = llmRequest(messages, options);
    const forget = link.router.listeners.add('llm_chunk', ({ call_id: id, content }) => {
      if (id !== request.call_id) return;
      this.#chunks.push(content);
      this.#wake();
    });
    this.result = withCancellation(link, request.call_id, options.signal, () =>
      link.request('llm_stream', request, { signal: options.signal }),
    ).finally(() => {
      forget();
      this.#hasEnded = true;
      this.#wake();
    });
    // Who iterates gets the failure there: it is no unhandled one.
    this.result.catch(() => undefined);
  }

  /** As `result.then`. */
  then<A = Answer<'llm_stream'>, B = never>(
    onFulfilled?: ((answer: Answer<'llm_stream'>) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result.then(onFulfilled, onRejected);
  }

  /** The pieces that have not been taken yet, until the answer is there. Throws what `result` rejects with. */
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

/** Tells the daemon when the signal is aborted: the request itself rejects at once. */
async function withCancellation<T>(
  link: ClientLink,
  callId: string,
  signal: AbortSignal | undefined,
  ask: () => Promise<T>,
): Promise<T> {
  const cancel = () => {
    // Without a connection there is nobody to tell, and the daemon has noticed by itself.
    link.request('cancel_llm', { call_id: callId }, { isBound: true }).catch(() => undefined);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await ask();
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}
