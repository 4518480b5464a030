import type { LlmUsage } from '../llm/usage.js';
import type { AnswerEncoding, EncodedAnswer } from './encoding.js';
import type { OpenAiError } from './failure.js';

/** Facts about a response that are known before its answer. */
interface ResponseFrame {
  /** Unique; the ids of the response and its message are derived from it. */
  readonly id: string;
  /** In seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/**
 * Token counts in the format of the API, which requires every count: unknown counts are 0. Null when all are unknown.
 */
const toUsage = (usage: LlmUsage | undefined) => {
  if (!usage) return null;
  const { prompt_tokens: input = 0, completion_tokens: output = 0, cached_tokens: cached = 0 } = usage;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens ?? input + output,
  };
};

type Status = 'in_progress' | 'completed' | 'failed';

/** Position of the only text part of a response. */
const TEXT_POSITION = { output_index: 0, content_index: 0 };

/**
 * Encodes an answer as a response with one message, whole or in events. Source:
 * https://platform.openai.com/docs/api-reference/responses
 */
export class ResponsesEncoding implements AnswerEncoding {
  readonly hasDoneMark = false;
  readonly #frame: ResponseFrame;
  #sequence = 0;
  #text = '';

  constructor(frame: ResponseFrame) {
    this.#frame = frame;
  }

  whole({ content, usage, extra }: EncodedAnswer): object {
    return { ...this.#response('completed', [this.#message('completed', content)], usage), ...extra };
  }

  begin(): readonly object[] {
    const response = this.#response('in_progress', []);
    const item = this.#message('in_progress');
    return [
      this.#event('response.created', { response }),
      this.#event('response.in_progress', { response }),
      this.#event('response.output_item.added', { output_index: 0, item }),
      this.#event('response.content_part.added', { ...this.#position(), part: textPart('') }),
    ];
  }

  piece(text: string): readonly object[] {
    this.#text += text;
    return [this.#event('response.output_text.delta', { ...this.#position(), delta: text, logprobs: [] })];
  }

  end({ usage, extra }: Omit<EncodedAnswer, 'content'>): readonly object[] {
    const text = this.#text;
    const item = this.#message('completed', text);
    const response = { ...this.#response('completed', [item], usage), ...extra };
    return [
      this.#event('response.output_text.done', { ...this.#position(), text, logprobs: [] }),
      this.#event('response.content_part.done', { ...this.#position(), part: textPart(text) }),
      this.#event('response.output_item.done', { output_index: 0, item }),
      this.#event('response.completed', { response }),
    ];
  }

  /** Some clients expect a response that has failed, others an event of the type `error`. */
  fail(error: OpenAiError): readonly object[] {
    const { code, message } = error;
    const failed = { ...this.#response('failed', []), error: { code, message } };
    return [this.#event('response.failed', { response: failed }), this.#event('error', { error })];
  }

  #event(type: string, fields: object): object {
    this.#sequence += 1;
    return { type, sequence_number: this.#sequence - 1, ...fields };
  }

  #position() {
    return { item_id: `msg_${this.#frame.id}`, ...TEXT_POSITION };
  }

  #message(status: 'in_progress' | 'completed', text?: string) {
    const content = text === undefined ? [] : [textPart(text)];
    return { id: `msg_${this.#frame.id}`, type: 'message', status, role: 'assistant', content };
  }

  /** Clients expect every field; unsupported ones have OpenAI's defaults. */
  #response(status: Status, output: readonly object[], usage?: LlmUsage) {
    const { id, created, model } = this.#frame;
    return {
      ...{ id: `resp_${id}`, object: 'response', created_at: created, status, model, output },
      ...{ error: null, incomplete_details: null, usage: toUsage(usage), store: false, background: false },
      ...{ instructions: null, previous_response_id: null, metadata: {}, truncation: 'disabled', user: null },
      ...{ tools: [], tool_choice: 'auto', parallel_tool_calls: true, max_output_tokens: null },
      ...{
        temperature: null,
        top_p: null,
        reasoning: { effort: null, summary: null },
        text: { format: { type: 'text' } },
      },
    };
  }
}

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
