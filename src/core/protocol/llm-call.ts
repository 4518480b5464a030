import { z } from 'zod';

import { LLM_PROVIDERS } from '../llm/settings.js';
import { callId, optional, timestamp } from './fields.js';
import { resourceUse } from './results/limits.js';

const tokens = z.int().optional();

/** Tokens and costs of an LLM call. */
export const llmUsage = z
  .object({
    prompt_tokens: tokens.describe('Those from a cache included'),
    completion_tokens: tokens,
    total_tokens: tokens,
    cached_tokens: tokens,
    reasoning_tokens: tokens,
    cost_usd: z.number().optional(),
  })
  .describe('As far as the provider tells; empty when it does not');

/** An LLM call, without its question and answer. */
export const llmCallInfo = z.object({
  call_id: callId,
  node: optional(z.string()).describe(
    'Name of the node of a cluster that asks the provider; left out by a daemon alone',
  ),
  owner: z.string().describe('Name of the token; `local` without one, `reviewer` for the model that reviews commands'),
  provider: z.enum(LLM_PROVIDERS).nullable().describe('The provider that was asked last; null before the first'),
  shell_provider: z.string().nullable(),
  model: z.string().nullable().describe('As the provider tells it, or as the request named it'),
  state: z.string().describe('`waiting` in the queue of a tool, `running`, `ok`, or the error code'),
  started_at: timestamp,
  duration_ms: z.number().describe('Until the answer, or so far'),
  usage: llmUsage.nullable().describe('Null while the call is under way, and after a failure'),
  resource_usage: resourceUse.nullable().describe('As in the answer'),
});

/** An LLM call in wire format. */
export type LlmCallInfo = z.output<typeof llmCallInfo>;
