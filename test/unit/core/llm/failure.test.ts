import { describe, expect, it } from 'vitest';

import { AdapterError } from '../../../../src/core/errors.js';
import { isPassedOn, kindOfError, llmError, maskSecrets } from '../../../../src/core/llm/failure.js';

describe('kindOfError', () => {
  it.each([
    [{ status: 401 }, 'auth'],
    [{ status: 403 }, 'auth'],
    [{ status: 404 }, 'model'],
    [{ status: 413 }, 'prompt_too_large'],
    [{ status: 429 }, 'rate_limited'],
    [{ status: 529 }, 'rate_limited'],
    [{ status: 400, code: 'context_length_exceeded' }, 'prompt_too_large'],
    [{ status: 400, code: 'model_not_found' }, 'model'],
    [{ code: 'authentication_failed' }, 'auth'],
    [{ code: 'RESOURCE_EXHAUSTED' }, 'rate_limited'],
    [{ status: 500 }, undefined],
    [{ status: 400, code: 'the quota of 429 is exceeded' }, undefined],
    [{}, undefined],
  ] as const)('%j: %s', (error, kind) => {
    expect(kindOfError(error)).toBe(kind);
  });
});

describe('maskSecrets', () => {
  it.each([
    ['Incorrect API key provided: sk-abcdefghijklmnop1234', [], 'Incorrect API key provided: ***'],
    ['Authorization: Bearer abc.def-123456', [], 'Authorization: Bearer ***'],
    ['{"api_key":"0123456789abcdef"}', [], '{"api_key":"***"}'],
    ['token=0123456789abcdef rest', [], 'token=*** rest'],
    ['my-own-secret is wrong', ['my-own-secret'], '*** is wrong'],
    ['x=1 is no secret', ['1'], 'x=1 is no secret'],
    ['a skeleton, a task-force', [], 'a skeleton, a task-force'],
  ])('%j', (text, secrets, masked) => {
    expect(maskSecrets(text, secrets)).toBe(masked);
  });
});

describe('isPassedOn', () => {
  it.each([
    [llmError('unavailable', '', {}), true],
    [llmError('auth', '', {}), true],
    [llmError('failed', '', {}), true],
    [llmError('empty', '', {}), true],
    [llmError('timeout', '', {}), false],
    [llmError('cancelled', '', {}), false],
    [new AdapterError('INVALID_REQUEST', ''), false],
    [new Error('a fault'), false],
  ])('%s', (error, expected) => {
    expect(isPassedOn(error)).toBe(expected);
  });
});
