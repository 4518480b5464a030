import type { z } from 'zod';

import { AdapterError } from '../errors.js';

/** What is wrong with one field of a payload. */
interface Problem {
  /** Path of the field, such as `output.max_size`; empty for the payload as a whole. */
  readonly field: string;
  readonly message: string;
}

/**
 * Parses what a client has sent.
 * @param name what it was sent as, for the message
 * @throws AdapterError INVALID_REQUEST, with `problems` in its details
 */
export function parsePayload<T extends z.ZodObject>(schema: T, name: string, payload: unknown): z.output<T> {
  const parsed = schema.safeParse(payload ?? {});
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describeIssue(issue, Object.keys(schema.shape)));
  throw new AdapterError('INVALID_REQUEST', `${name}: ${problems.map(({ message }) => message).join('; ')}`, {
    details: { problems },
  });
}

function describeIssue(issue: z.core.$ZodIssue, known: readonly string[]): Problem {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const field = [path, issue.keys[0]].filter(Boolean).join('.');
    const there = path === '' ? `; there are ${known.join(', ') || 'none'}` : '';
    return { field, message: `there is no field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}${there}` };
  }
  const [inner] = issue.code === 'invalid_key' ? issue.issues : [];
  return { field: path, message: `${path === '' ? 'the payload' : path}: ${inner?.message ?? issue.message}` };
}
