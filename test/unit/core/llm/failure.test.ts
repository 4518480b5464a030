import { describe, expect, it } from 'vitest';

import { AdapterError } from '../../../../src/core/errors.js';
import { classifyFailure, isPassedOn, llmError, maskSecrets } from '../../../../src/core/llm/failure.js';

describe('classifyFailure', () => {
  it.each([
    ['Not logged in · Please run /login', 'auth'],
    ['Failed to authenticate. API Error: 401 invalid x-api-key', 'auth'],
    ['Invalid auth method selected.', 'auth'],
    ['unexpected status 403 Forbidden', 'auth'],
    ['[API Error: 429 quota exceeded]', 'rate_limited'],
    ['RESOURCE_EXHAUSTED', 'rate_limited'],
    ["You've hit your usage limit", 'rate_limited'],
    ["There's an issue with the selected model (x). It may not exist", 'model'],
    ['The model `gpt-0` does not exist', 'model'],
    ['prompt is too long: 250000 tokens > 200000 maximum', 'prompt_too_large'],
    ["This model's maximum context length is 8192 tokens", 'prompt_too_large'],
    ['Segmentation fault', 'failed'],
    ['', 'failed'],
  ])('%j: %s', (text, kind) => {
    expect(classifyFailure(text)).toBe(kind);
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
