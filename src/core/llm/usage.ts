/** Tokens of a call, as far as the provider reports them. `prompt_tokens` includes those from a cache. */
export interface LlmUsage {
  readonly prompt_tokens?: number | undefined;
  readonly completion_tokens?: number | undefined;
  readonly total_tokens?: number | undefined;
  readonly cached_tokens?: number | undefined;
  readonly reasoning_tokens?: number | undefined;
  readonly cost_usd?: number | undefined;
}

/** Tokens as a tool reports them, each 0 when not reported. */
interface TokenCounts {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number | undefined;
  readonly reasoning?: number | undefined;
  readonly costUsd?: number | undefined;
}

/** The usage of a call; unknown values are omitted, never estimated. */
export function usageOf({ prompt, completion, cached, reasoning, costUsd }: TokenCounts): LlmUsage {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(reasoning !== undefined && { reasoning_tokens: reasoning }),
    ...(costUsd !== undefined && { cost_usd: costUsd }),
  };
}
