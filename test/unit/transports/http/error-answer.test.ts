import { describe, expect, it } from 'vitest';

import { AdapterError, type ErrorCode, type ErrorDetails } from '../../../../src/core/errors.js';
import { errorAnswer, openAiErrorAnswer } from '../../../../src/transports/http/http-requests.js';

const errorOf = (code: ErrorCode, details?: ErrorDetails) => new AdapterError(code, 'why', details && { details });

describe('an error as an answer over HTTP', () => {
  it.each([
    ['SESSION_NOT_FOUND', undefined, 404, {}],
    ['UNAUTHORIZED', undefined, 401, { 'www-authenticate': 'Bearer' }],
    ['RATE_LIMITED', { retry_after_ms: 1200 }, 429, { 'retry-after': '2' }],
    ['RATE_LIMITED', { retry_after_ms: 10 }, 429, { 'retry-after': '1' }],
  ] as const)('of the protocol: %s with %j', (code, details, status, headers) => {
    const error = errorOf(code, details).toBody();
    expect(errorAnswer(error)).toEqual({
      status,
      headers: { 'cache-control': 'no-store', ...headers },
      body: { error },
    });
  });

  it.each([
    ['LLM_FAILED', { is_repeated: true }, { 'x-retry-suppressed': 'true', 'x-should-retry': 'false' }],
    ['RATE_LIMITED', { retry_after_ms: 1200 }, { 'retry-after': '2' }],
  ] as const)("of OpenAI's API: %s with %j", (code, details, headers) => {
    const answer = openAiErrorAnswer(errorOf(code, details));
    expect(answer.headers).toEqual({ 'cache-control': 'no-store', ...headers });
    expect(answer.body.error.code).toBe(code.toLowerCase());
  });
});
