import { ChatEncoding } from '../../core/openai/chat-encoding.js';
import { parseChatRequest } from '../../core/openai/chat-request.js';
import type { CompletionRequest } from '../../core/openai/completion-request.js';
import type { AnswerEncoding } from '../../core/openai/encoding.js';
import { ResponsesEncoding } from '../../core/openai/responses-encoding.js';
import { parseResponsesRequest } from '../../core/openai/responses-request.js';

/** One of OpenAI's two interfaces for completions. */
export interface Api {
  readonly path: string;
  readonly parse: (body: unknown) => CompletionRequest;
  readonly encoding: (asked: CompletionRequest) => AnswerEncoding;
}

const frameOf = (prefix: string, { model }: CompletionRequest) => ({
  id: `${prefix}${crypto.randomUUID()}`,
  created: Math.floor(Date.now() / 1000),
  model,
});

/** The interfaces that the endpoint has. */
export const APIS: readonly Api[] = [
  {
    path: '/v1/chat/completions',
    parse: parseChatRequest,
    encoding: (asked) => new ChatEncoding(frameOf('cmpl-', asked), asked.includesUsage),
  },
  {
    path: '/v1/responses',
    parse: parseResponsesRequest,
    encoding: (asked) => new ResponsesEncoding(frameOf('', asked)),
  },
];
