import type { z } from 'zod';

import { AdapterError } from '../errors.js';
import { isMapping, valueAt } from '../json.js';
import { choicesOf, isBound, jsonSchemaOf, type SchemaNode } from './json-schema.js';

const FIELD = 'timeout_ms';
const MS_PER_SECOND = 1000;

/** Unit of `timeout`: some take it for seconds, and others for milliseconds. */
type TimeoutUnit = 'seconds' | 'milliseconds';

/** Unit of `timeout` in the requests that have it, as the settings of LLM tools do. */
const TIMEOUT_UNITS: Readonly<Record<string, TimeoutUnit>> = { llm_call: 'seconds', llm_stream: 'seconds' };

/** Takes `timeout` out of a payload that has `timeout_ms` instead. */
function resolveAliases(
  { shape }: z.ZodObject,
  name: string,
  payload: unknown,
  unit: TimeoutUnit | undefined = TIMEOUT_UNITS[name],
): unknown {
  if (!isMapping(payload) || !Object.hasOwn(payload, 'timeout')) return payload;
  if (!Object.hasOwn(shape, FIELD) || Object.hasOwn(shape, 'timeout')) return payload;
  const { timeout, ...rest } = payload;
  // `null` counts as absent.
  if (timeout === undefined || timeout === null) return rest;
  return { ...rest, [FIELD]: toTimeoutMs(name, timeout, rest[FIELD] ?? undefined, unit) };
}

/**
 * Converts `timeout` to milliseconds.
 * @param given `timeout_ms` beside it
 * @throws AdapterError INVALID_REQUEST when it has no unit, or is not the same value in the unit of `timeout_ms`
 */
function toTimeoutMs(name: string, timeout: unknown, given: unknown, unit: TimeoutUnit | undefined): unknown {
  if (unit === undefined) throw refused(name, `there is no field "timeout": give \`${FIELD}\`, in milliseconds`);
  if (given !== undefined && (unit !== 'milliseconds' || given !== timeout)) {
    throw refused(name, `\`timeout\` and \`${FIELD}\` mean the same: give only \`${FIELD}\``);
  }
  return unit === 'seconds' && typeof timeout === 'number' ? Math.ceil(timeout * MS_PER_SECOND) : timeout;
}

const refused = (name: string, message: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `${name}: ${message}`, {
    details: { problems: [{ field: 'timeout', message }] },
  });

/**
 * Parses the payload of a request. Fields with an alternative name are accepted under both.
 * @param name the request, for the message
 * @param unit unit of `timeout`; @default that of the request
 */
export function parsePayload<T extends z.ZodObject>(
  schema: T,
  name: string,
  payload: unknown,
  unit?: TimeoutUnit,
): z.output<T> {
  const input = resolveAliases(schema, name, payload ?? {}, unit);
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describeIssue(issue, schema, input));
  throw new AdapterError('INVALID_REQUEST', `${name}: ${problems.map(({ message }) => message).join('; ')}`, {
    details: { problems },
  });
}

/**
 * The requirement for the value at a path of a schema, as the end of a sentence: `text of 1 to 128 characters`, `a
 * whole number from 1 to 5`, `one of "a", "b"`.
 */
function requirementAt(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const nodes = path.reduce<readonly SchemaNode[]>(
    (at, step) => at.flatMap(choicesOf).flatMap((node) => childOf(node, step) ?? []),
    [jsonSchemaOf(schema)],
  );
  const choices = nodes.flatMap(choicesOf).filter(({ type }) => type !== 'null');
  return [...new Set(choices.map(describeNode))].join(' or ') || 'something else';
}

function childOf(node: SchemaNode, step: PropertyKey): SchemaNode | undefined {
  if (typeof step === 'number') return node.items;
  const { properties = {}, additionalProperties: values } = node;
  const name = String(step);
  if (Object.hasOwn(properties, name)) return properties[name];
  return typeof values === 'object' ? values : undefined;
}

function describeNode(node: SchemaNode): string {
  if (node.enum) return node.enum.length === 1 ? show(node.enum[0]) : `one of ${node.enum.map(show).join(', ')}`;
  if (node.const !== undefined) return show(node.const);
  switch (node.type) {
    case 'string':
      return `text${describeLength(node)}`;
    case 'integer':
      return `a whole number${describeRange(node)}`;
    case 'number':
      return `a number${describeRange(node)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list${describeSize(node)}`;
    case 'object':
      return 'an object';
    default:
      return 'bytes';
  }
}

const show = (value: unknown): string => JSON.stringify(value);

function describeLength({ minLength = 0, maxLength }: SchemaNode): string {
  if (maxLength !== undefined) return ` of ${minLength} to ${maxLength} characters`;
  return minLength > 0 ? ' that is not empty' : '';
}

function describeSize({ minItems = 0, maxItems }: SchemaNode): string {
  if (maxItems !== undefined) return ` of ${minItems} to ${maxItems} entries`;
  return minItems > 0 ? ' that is not empty' : '';
}

function describeRange({ minimum, maximum, exclusiveMinimum: above }: SchemaNode): string {
  if (isBound(above)) return ` above ${above}${isBound(maximum) ? ` and at most ${maximum}` : ''}`;
  if (isBound(minimum) && isBound(maximum)) return ` from ${minimum} to ${maximum}`;
  if (isBound(minimum)) return ` of at least ${minimum}`;
  return isBound(maximum) ? ` of at most ${maximum}` : '';
}

/** Longest text that is repeated in a message, in characters. */
const MAX_SHOWN = 40;

/** Beginnings of the default messages of zod; all other messages come from the schemas and are plain already. */
const ZOD_MESSAGE = /^(?:Invalid|Too (?:small|big)|Unrecognized|Expected)/;

/** One problem with an input. */
interface PlainIssue {
  /** Dotted path of the field; empty for the input as a whole. */
  readonly field: string;
  /** A sentence that names the field, states the requirement, and repeats the actual value. */
  readonly message: string;
}

/**
 * Describes a validation issue in plain words: `` `command` is missing: it must be text ``, or `` `timeout_ms` must be
 * a whole number from 1 to 5; it is "abc" ``.
 */
function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodObject, input: unknown): PlainIssue {
  if (issue.code === 'unrecognized_keys') return describeUnknown(issue, schema);
  const field = issue.path.join('.');
  const name = field === '' ? 'the payload' : `\`${field}\``;
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
