import type { z } from 'zod';

import { AdapterError } from '../errors.js';
import { describeIssue } from '../plain-issue.js';

const FIELD = 'timeout_ms';
const MS_PER_SECOND = 1000;

/** Requests in which `timeout` is a name of `timeout_ms`, in seconds, as in the settings of LLM tools. */
const IN_SECONDS: ReadonlySet<string> = new Set(['llm_call', 'llm_stream']);

/**
 * Takes `timeout` out of a request that has `timeout_ms`. In `llm_call` and `llm_stream` it is the same in seconds. In others
 * it is refused: some mean seconds by it, and others milliseconds.
 * @param name the request
 * @throws AdapterError INVALID_REQUEST when it is given in another request, or beside `timeout_ms`
 */
function resolveAliases(schema: z.ZodObject, name: string, payload: unknown): unknown {
  if (!isNamed(payload) || !isRenamed(schema)) return payload;
  const { timeout, ...rest } = payload;
  if (timeout === undefined || timeout === null) return rest;
  if (!IN_SECONDS.has(name)) throw refused(name, `there is no field "timeout": give \`${FIELD}\`, in milliseconds`);
  if (isGiven(payload, FIELD))
    throw refused(name, `\`timeout\` and \`${FIELD}\` mean the same: give only \`${FIELD}\``);
  return { ...rest, [FIELD]: typeof timeout === 'number' ? Math.ceil(timeout * MS_PER_SECOND) : timeout };
}

const refused = (name: string, message: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `${name}: ${message}`, {
    details: { problems: [{ field: 'timeout', message }] },
  });

const isNamed = (payload: unknown): payload is Readonly<Record<string, unknown>> =>
  typeof payload === 'object' && payload !== null && Object.hasOwn(payload, 'timeout');

/** Whether `timeout` stands for a field of the schema, and is none itself. */
const isRenamed = ({ shape }: z.ZodObject): boolean => Object.hasOwn(shape, FIELD) && !Object.hasOwn(shape, 'timeout');

/** `null` counts as absent. */
const isGiven = (payload: object, field: string): boolean =>
  Object.hasOwn(payload, field) && ((payload as Record<string, unknown>)[field] ?? undefined) !== undefined;

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
