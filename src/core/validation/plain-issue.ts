import type { z } from 'zod';

import { requirementAt } from './requirement.js';

/** Longest text that is repeated in a message, in characters. */
const MAX_SHOWN = 40;

/** Beginnings of the default messages of zod; all other messages come from the schemas and are plain already. */
const ZOD_MESSAGE = /^(?:Invalid|Too (?:small|big)|Unrecognized|Expected)/;

/** One problem with an input. */
export interface PlainIssue {
  /** Dotted path of the field; empty for the input as a whole. */
  readonly field: string;
  /** A sentence that names the field, states the requirement, and repeats the actual value. */
  readonly message: string;
}

/**
 * Describes a validation issue in plain words: `` `command` is missing: it must be text ``, or `` `timeout_ms` must be
 * a whole number from 1 to 5; it is "abc" ``.
 * @param whole name of the input as a whole: `the payload`
 */
export function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodObject, input: unknown, whole: string): PlainIssue {
  if (issue.code === 'unrecognized_keys') return describeUnknown(issue, schema);
  const field = issue.path.join('.');
  const name = field === '' ? whole : `\`${field}\``;
  const [inner] = issue.code === 'invalid_key' ? issue.issues : [];
  const own = inner?.message ?? issue.message;
  const value = valueAt(input, issue.path);
  if (!ZOD_MESSAGE.test(own)) return { field, message: joinOwn(name, own, value) };
  const requirement = requirementAt(schema, issue.path);
  if (value === undefined || value === null) return { field, message: `${name} is missing: it must be ${requirement}` };
  return { field, message: `${name} must be ${requirement}; it is ${describeValue(value)}` };
}

/** Messages of schemas that begin with a verb continue the name of the field; others are complete sentences. */
function joinOwn(name: string, own: string, value: unknown): string {
  if (own.startsWith('must ')) return `${name} ${own}${value === undefined ? '' : `; it is ${describeValue(value)}`}`;
  return own.startsWith('is ') ? `${name} ${own}` : `${name}: ${own}`;
}

function describeUnknown({ path, keys }: z.core.$ZodIssueUnrecognizedKeys, schema: z.ZodObject): PlainIssue {
  const parent = path.join('.');
  const field = [parent, keys[0]].filter(Boolean).join('.');
  const where = parent === '' ? '' : ` in \`${parent}\``;
  const known = parent === '' ? `; its fields are ${Object.keys(schema.shape).join(', ') || 'none'}` : '';
  return { field, message: `there is no field ${keys.map((key) => JSON.stringify(key)).join(', ')}${where}${known}` };
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (value instanceof Uint8Array) return 'bytes';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${String(value).length} characters)` : text;
}

const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<PropertyKey, unknown>)[step]
        : undefined,
    input,
  );
