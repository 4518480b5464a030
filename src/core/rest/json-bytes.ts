import { z } from 'zod';

import { base64, bytesOf } from '../output/base64.js';

/** Bytes in JSON, which has none of its own. */
interface JsonBytes {
  /** RFC 4648, section 4, with padding. */
  readonly base64: string;
}

/** Returns a value in which bytes, at any depth, are `{ base64 }`. A value without bytes is returned as it is. */
export function withJsonBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: base64(value) } satisfies JsonBytes;
  if (Array.isArray(value)) {
    const entries = value as unknown[];
    const converted = entries.map(withJsonBytes);
    return converted.every((entry, at) => entry === entries[at]) ? value : converted;
  }
  if (typeof value !== 'object' || value === null) return value;
  const changed = Object.entries(value)
    .map(([key, field]: [string, unknown]) => [key, withJsonBytes(field), field] as const)
    .filter(([, converted, field]) => converted !== field);
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

/** Returns the payload of a request with bytes in place of `{ base64 }`, in the fields that take bytes. */
export function fromJsonBytes(schema: z.ZodObject, payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null) return payload;
  const fields = payload as Readonly<Record<string, unknown>>;
  const given = Object.entries(schema.shape).flatMap(([name, field]) => {
    const bytes = Object.hasOwn(fields, name) && takesBytes(field) ? bytesIn(fields[name]) : undefined;
    return bytes ? [[name, bytes] as const] : [];
  });
  return given.length === 0 ? payload : { ...fields, ...Object.fromEntries(given) };
}

/** Whether a field takes bytes, alone or beside other values. */
function takesBytes(schema: unknown): boolean {
  if (schema instanceof z.ZodCustom) return true;
  if (schema instanceof z.ZodUnion) return schema.options.some(takesBytes);
  if (schema instanceof z.ZodPipe) return takesBytes(schema.in);
  return (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) && takesBytes(schema.unwrap());
}

function bytesIn(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { base64: digits, ...others } = value as Readonly<Record<string, unknown>>;
  return typeof digits === 'string' && Object.keys(others).length === 0 ? bytesOf(digits) : undefined;
}
