import { describe, expect, it } from 'vitest';

import { ERROR_CATALOGUE } from '../../../src/core/error-catalogue.js';
import { AdapterError, ERROR_CODES } from '../../../src/core/errors.js';

/** The published codes. One may be added here; none may be renamed, removed or given another meaning. */
const PUBLISHED = [
  'INVALID_REQUEST',
  'UNKNOWN_REQUEST',
  'METHOD_NOT_ALLOWED',
  'IDEMPOTENCY_KEY_REUSED',
  'SESSION_NOT_FOUND',
  'COMMAND_NOT_FOUND',
  'SESSION_BUSY',
  'SESSION_LIMIT',
  'NO_RUNNING_COMMAND',
  'INPUT_FULL',
  'SHELL_NOT_FOUND',
  'SHELL_FAILED',
  'APPROVAL_NOT_FOUND',
  'APPROVALS_UNAVAILABLE',
  'SANDBOX_UNAVAILABLE',
  'USER_UNAVAILABLE',
  'BAD_DIRECTORY',
  'OUTPUT_EXPIRED',
  'RESOURCE_EXHAUSTED',
  'CHECKPOINT_NOT_FOUND',
  'RECORDING_NOT_FOUND',
  'CHECKPOINT_TOO_LARGE',
  'CHECKPOINT_FAILED',
  'RESTORE_FAILED',
  'GIT_NOT_FOUND',
  'PAYLOAD_TOO_LARGE',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'FILE_NOT_FOUND',
  'FILE_EXISTS',
  'FILE_CHANGED',
  'FILE_ACCESS_DENIED',
  'FILE_TOO_LARGE',
  'FILE_FAILED',
  'NOT_A_FILE',
  'NOT_A_DIRECTORY',
  'DIRECTORY_NOT_EMPTY',
  'NOT_TEXT',
  'TEXT_NOT_FOUND',
  'TEXT_NOT_UNIQUE',
  'DISK_FULL',
  'PORT_NOT_FOUND',
  'PORT_UNAVAILABLE',
  'PORT_UNREACHABLE',
  'COMMAND_DENIED',
  'CONFIRMATION_NOT_FOUND',
  'CONFIRMATION_MISMATCH',
  'PROVIDER_NOT_FOUND',
  'LLM_UNAVAILABLE',
  'LLM_AUTH',
  'LLM_RATE_LIMITED',
  'LLM_MODEL_NOT_FOUND',
  'LLM_PROMPT_TOO_LARGE',
  'LLM_TIMEOUT',
  'LLM_LIMIT_EXCEEDED',
  'LLM_EMPTY',
  'LLM_FAILED',
  'LLM_CANCELLED',
  'NODE_LOST',
  'REGISTRY_UNAVAILABLE',
  'NODE_UNREACHABLE',
  'NODE_DRAINING',
  'NO_CAPACITY',
  'SHUTTING_DOWN',
  'INTERNAL',
];

describe('ERROR_CODES', () => {
  it('has every published code', () => {
    expect(PUBLISHED.filter((code) => !(code in ERROR_CODES))).toEqual([]);
  });

  it('has no code that is not published', () => {
    expect(Object.keys(ERROR_CODES).filter((code) => !PUBLISHED.includes(code))).toEqual([]);
  });

  it('explains each code in a sentence', () => {
    for (const [code, meaning] of Object.entries(ERROR_CODES)) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/u);
      expect(meaning).toMatch(/^[A-Z].*\.$/u);
    }
  });

  it('says for each code what to do next, in sentences', () => {
    for (const [code, { next }] of Object.entries(ERROR_CATALOGUE)) expect(next, code).toMatch(/^[A-Z].*\.$/u);
  });
});

describe('AdapterError', () => {
  it('goes over the wire as code, message and details, without its cause', () => {
    const cause = new Error('ENOENT');
    const error = new AdapterError('BAD_DIRECTORY', 'no such directory: /x', { details: { path: '/x' }, cause });
    expect(error.toBody()).toEqual({
      code: 'BAD_DIRECTORY',
      message: 'no such directory: /x',
      details: { path: '/x' },
    });
    expect(error.cause).toBe(cause);
    expect(error).toBeInstanceOf(Error);
  });

  it('has no details and no cause unless given', () => {
    const error = new AdapterError('INTERNAL', 'a fault');
    expect(error.toBody()).toEqual({ code: 'INTERNAL', message: 'a fault' });
    expect('cause' in error).toBe(false);
  });
});
