import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { AdapterError } from '../../core/errors.js';
import type { KeptBounds } from '../../core/rest/kept-answers.js';

/** Longest key, in characters. */
const MAX_KEY_LENGTH = 255;

/** Bounds on the answers that are kept for repeated requests: an hour, and for each token 1000 answers, 16 MiB. */
export const IDEMPOTENCY_BOUNDS: KeptBounds = {
  maxAgeMs: 3_600_000,
  maxAnswers: 1000,
  maxCharacters: 16 * 1024 * 1024,
};

/**
 * The header `Idempotency-Key` of a request; undefined without one.
 * @throws AdapterError INVALID_REQUEST for an empty or too long one
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return key;
  throw new AdapterError('INVALID_REQUEST', `Idempotency-Key must be one text of 1 to ${MAX_KEY_LENGTH} characters`);
}

/** Equal for the same request with the same payload. */
export const fingerprintOf = (name: string, payload: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([name, payload]))
    .digest('base64');
