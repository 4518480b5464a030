import type { z } from 'zod';

import { AdapterError } from '../errors.js';
import { describeIssue } from '../plain-issue.js';
import { resolveAliases } from './aliases.js';

/**
 * Parses the payload of a request. Fields with an alternative name are accepted under both.
 * @param name the request, for the message
 */
export function parsePayload<T extends z.ZodObject>(schema: T, name: string, payload: unknown): z.output<T> {
  const input = resolveAliases(schema, name, payload ?? {});
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describeIssue(issue, schema, input, 'the payload'));
  throw new AdapterError('INVALID_REQUEST', `${name}: ${problems.map(({ message }) => message).join('; ')}`, {
    details: { problems },
  });
}
