import { z } from 'zod';

import { LLM_PROVIDERS } from '../../llm/settings.js';
import { defineRequests } from '../define-requests.js';
import * as field from '../fields.js';
import { llmCallInfo, llmUsage, resourceUse } from '../shapes.js';
import { onNode, unreachable } from './nodes.js';

const { optional } = field;

const llmQuestion = z.strictObject({
  messages: field.llmMessages,
  provider: optional(z.enum(LLM_PROVIDERS)).describe(
    'Who answers; `auto` takes a configured service, or else an installed tool. By default `llm.provider`',
  ),
  shell_provider: optional(field.shellProviderName).describe(
    'Which command-line tool answers; by default the first of `llm.fallback` that can',
  ),
  model: optional(field.modelName).describe('Name of a model; by default the provider’s'),
  timeout_ms: optional(field.timeoutMs).describe('Most time the answer may take; by default the provider’s'),
  cwd: optional(field.directory).describe('Where a tool runs, within the workspace; by default the workspace'),
  call_id: optional(field.callId).describe('Chosen by the client, to cancel the call'),
});

/** Most calls that one `list_llm_calls` returns. */
const MAX_LISTED_CALLS = 200;

const llmAnswer = z.object({
  content: z.string().describe('The answer; of a tool that works in several steps, its last message'),
  usage: llmUsage,
  provider: z.enum(LLM_PROVIDERS),
  shell_provider: z.string().nullable().describe('The command-line tool that answered; null for a service'),
  model: z.string().nullable().describe('As the provider tells it'),
  session: z.string().nullable().describe('The tool’s own id of the conversation, by which the tool can resume it'),
  resource_usage: resourceUse.nullable().describe('What the run of the tool has used; null for a service'),
  call_id: field.callId,
  duration_ms: z.number().describe('From the request to the answer, in milliseconds'),
});

/** The LLM requests, a part of the table of requests. */
export const llmRequests = defineRequests({
  llm_call: {
    summary: 'Asks an LLM: an installed command-line tool, or a configured service.',
    role: 'agent',
    recorded: 'each',
    route: 'place',
    begins: 'call_id',
    repeat: 'never',
    isLong: true,
    example: {
      provider: 'shell',
      shell_provider: 'claude',
      messages: [
        { role: 'system', content: 'Answer in one word.' },
        { role: 'user', content: 'What is the capital of France?' },
      ],
      timeout_ms: 60_000,
    },
    input: () => llmQuestion,
    output: () => llmAnswer,
  },
  llm_stream: {
    summary: 'Asks an LLM as `llm_call` does, and sends `llm_chunk` events as the answer comes.',
    role: 'agent',
    recorded: 'each',
    route: 'place',
    begins: 'call_id',
    repeat: 'never',
    isLong: true,
    example: { messages: [{ role: 'user', content: 'Tell a story.' }], call_id: 'story-1' },
    input: () => llmQuestion,
    output: () => llmAnswer.extend({ chunk_count: z.int().describe('How many `llm_chunk` events there were') }),
  },
  cancel_llm: {
    summary: 'Cancels an LLM call, which is then answered with `LLM_CANCELLED`.',
    role: 'agent',
    recorded: 'each',
    route: { object: 'call_id' },
    repeat: 'safe',
    example: { call_id: 'story-1' },
    input: () => z.strictObject({ call_id: field.callId }),
    output: () =>
      z.object({
        call_id: field.callId,
        cancelled: z.boolean().describe('False when no such call is under way'),
      }),
  },
  list_llm_calls: {
    summary: 'Lists LLM calls: those under way, and the last that have ended. Questions and answers are not kept.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'gather',
    merged: { calls: { newestFirst: 'started_at' } },
    repeat: 'safe',
    example: { limit: 20 },
    input: () =>
      z.strictObject({
        limit: optional(z.int().min(1).max(MAX_LISTED_CALLS)).describe(
          `Most calls to return; ${MAX_LISTED_CALLS} by default`,
        ),
      }),
    output: () =>
      z.object({
        calls: z.array(llmCallInfo).describe('The newest first'),
        unreachable,
      }),
  },
  list_llm_providers: {
    summary: 'Lists the providers for `llm_call`, without calling them.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'workspace',
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({ node: onNode }),
    output: () =>
      z.object({
        providers: z.array(
          z.object({
            provider: z.enum(LLM_PROVIDERS),
            shell_provider: z.string().nullable(),
            available: z.boolean().describe('Its program is there, or its service is configured'),
            reason: z.string().nullable().describe('Why it is not available'),
            command: z.string().nullable().describe('Path of its program'),
          }),
        ),
        auto: z
          .array(z.string())
          .describe('Providers in the order of attempts when the request names none, available or not'),
      }),
  },
});
