import type { LlmUsage } from '../llm/usage.js';
import type { AnswerEncoding, EncodedAnswer } from './encoding.js';
import type { OpenAiError } from './failure.js';

/** Fields that all objects of one answer share. */
interface ChatFrame {
  readonly id: string;
  /** In seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** Token counts in the format of the API; unknown counts are omitted. */
const toUsage = ({
  prompt_tokens = 0,
  completion_tokens = 0,
  total_tokens,
  cached_tokens,
  reasoning_tokens,
}: LlmUsage) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: total_tokens ?? prompt_tokens + completion_tokens,
  ...(cached_tokens !== undefined && { prompt_tokens_details: { cached_tokens } }),
  ...(reasoning_tokens !== undefined && { completion_tokens_details: { reasoning_tokens } }),
});

/**
 * Encodes an answer as a chat completion, whole or in chunks. Source:
 * https://platform.openai.com/docs/api-reference/chat
 */
export class ChatEncoding implements AnswerEncoding {
  readonly hasDoneMark = true;
  readonly #frame: ChatFrame;
  readonly #includesUsage: boolean;

  constructor(frame: ChatFrame, includesUsage: boolean) {
    this.#frame = frame;
    this.#includesUsage = includesUsage;
  }

  whole({ content, usage, extra }: EncodedAnswer): object {
    const { id, created, model } = this.#frame;
    const choice = { index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' };
    const frame = { id, object: 'chat.completion', created, model };
    return { ...frame, choices: [choice], ...(usage && { usage: toUsage(usage) }), ...extra };
  }

  begin(): readonly object[] {
    return [this.#chunk({ role: 'assistant', content: '' }, null)];
  }

  piece(content: string): readonly object[] {
    return [this.#chunk({ content }, null)];
  }

  /** Clients fail without `finish_reason` or without `choices`. */
  end({ usage, extra }: Omit<EncodedAnswer, 'content'>): readonly object[] {
    const stop = this.#chunk({}, 'stop');
    const hasExtra = Object.keys(extra).length > 0;
    const usageField = this.#includesUsage && usage ? { usage: toUsage(usage) } : {};
    if (!hasExtra && Object.keys(usageField).length === 0) return [stop];
    return [stop, { ...this.#base(), choices: [], ...usageField, ...extra }];
  }

  fail(error: OpenAiError): readonly object[] {
    return [{ error }];
  }

  #chunk(delta: object, finish: 'stop' | null): object {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return { ...this.#base(), choices, ...(this.#includesUsage && { usage: null }) };
  }

  #base(): object {
    const { id, created, model } = this.#frame;
    return { id, object: 'chat.completion.chunk', created, model };
  }
}
