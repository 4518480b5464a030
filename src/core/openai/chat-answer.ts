import type { LlmUsage } from '../llm/usage.js';

/** What every object of one answer has in common. */
export interface AnswerFrame {
  readonly id: string;
  /** In seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** Tokens in the words of OpenAI. */
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

/** A whole answer. Usage that nobody has told is left out. */
export const completion = (
  { id, created, model }: AnswerFrame,
  content: string,
  usage: LlmUsage | undefined,
  extra: object,
): object => ({
  id,
  object: 'chat.completion',
  created,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
  ...(usage && { usage: toUsage(usage) }),
  ...extra,
});

/** Makes the chunks of a streamed answer. */
export class ChunkFrame {
  readonly #frame: AnswerFrame;
  readonly #includesUsage: boolean;

  constructor(frame: AnswerFrame, includesUsage: boolean) {
    this.#frame = frame;
    this.#includesUsage = includesUsage;
  }

  /** The first one. */
  begin(): object {
    return this.#chunk({ role: 'assistant', content: '' }, null);
  }

  content(content: string): object {
    return this.#chunk({ content }, null);
  }

  /** The last ones. Clients fail without a `finish_reason`, and without `choices`. */
  end(usage: LlmUsage | undefined, extra: object): readonly object[] {
    const stop = this.#chunk({}, 'stop');
    const hasExtra = Object.keys(extra).length > 0;
    const figures = this.#includesUsage && usage ? { usage: toUsage(usage) } : {};
    if (!hasExtra && Object.keys(figures).length === 0) return [stop];
    return [stop, { ...this.#base(), choices: [], ...figures, ...extra }];
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
