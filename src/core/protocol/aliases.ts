import type { z } from 'zod';

import { AdapterError } from '../errors.js';

/** An alternative name of a field. */
interface Alias {
  /** Name in the schema. */
  readonly field: string;
  /** Factor from a number under the alternative name to the unit of the field. */
  readonly factor: number;
}

const TIMEOUT: Alias = { field: 'timeout_ms', factor: 1 };

/** `timeout` in seconds, for the requests in `SECONDS`. */
const TIMEOUT_IN_SECONDS: Alias = { field: 'timeout_ms', factor: 1000 };

const SECONDS: ReadonlySet<string> = new Set(['llm_call', 'llm_stream']);

/**
 * Renames alternative names of fields to those of the schema: `timeout` is accepted wherever a request has
 * `timeout_ms`. It means milliseconds; in `llm_call` and `llm_stream` seconds, as before.
 * @param name the request
 * @throws AdapterError INVALID_REQUEST when a field is given under both names
 */
export function resolveAliases(schema: z.ZodObject, name: string, payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, 'timeout')) return payload;
  const { field, factor } = SECONDS.has(name) ? TIMEOUT_IN_SECONDS : TIMEOUT;
  if (!isRenamed(schema, field)) return payload;
  const { timeout, ...rest } = payload as Record<string, unknown>;
  if (timeout === undefined || timeout === null) return rest;
  if (isGiven(payload, field)) {
    throw new AdapterError(
      'INVALID_REQUEST',
      `${name}: \`timeout\` and \`${field}\` mean the same: give only \`${field}\``,
      {
        details: { problems: [{ field: 'timeout', message: `means the same as \`${field}\`` }] },
      },
    );
  }
  return { ...rest, [field]: typeof timeout === 'number' ? Math.ceil(timeout * factor) : timeout };
}

/** Whether `timeout` stands for a field of the schema, and is none itself. */
const isRenamed = ({ shape }: z.ZodObject, field: string): boolean =>
  Object.hasOwn(shape, field) && !Object.hasOwn(shape, 'timeout');

/** `null` counts as absent. */
const isGiven = (payload: object, field: string): boolean =>
  Object.hasOwn(payload, field) && ((payload as Record<string, unknown>)[field] ?? undefined) !== undefined;
