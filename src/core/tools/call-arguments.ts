import type { z } from 'zod';

import { parsePayload } from '../protocol/problems.js';
import { requests } from '../protocol/requests.js';
import type { Tool } from './tool.js';
import { TOOL_SETS, WORKSPACE } from './tools.js';
import type { ToolSet } from './tool-sets.js';

type Json = z.core.util.JSONType;
type Schema = Readonly<Record<string, Json>>;

/**
 * Parses the arguments that a model sent for a tool. Values of another type are converted where only one meaning is
 * possible: `"5000"` for a number, `"true"` for a boolean, JSON text for a list or a map, a number for text.
 * @throws AdapterError INVALID_REQUEST, with the invalid fields
 */
export function parseArguments(tool: Tool, args: unknown): Readonly<Record<string, unknown>> {
  const given = parsePayload(tool.input, tool.name, convert(args ?? {}, acceptedSchema(tool)), 'milliseconds');
  // What the request demands beyond the types of these fields.
  parsePayload(requests[tool.request].input, tool.name, tool.toPayload(given));
  return given;
}

/** The schema with `timeout`, which models guess, and which means milliseconds to them as all times of tools do. */
function acceptedSchema({ schema }: Tool): Schema {
  const { properties } = schema;
  const { timeout_ms: timeout } = properties;
  return { ...schema, properties: { ...(timeout !== undefined && { timeout }), ...properties } };
}

/**
 * Converts a value to the type in its schema, or returns it unchanged where that is ambiguous; parsing then reports the
 * problem.
 */
function convert(value: unknown, schema: Schema): unknown {
  const converter = CONVERTERS.get(schema['type']);
  return converter ? converter(value, schema) : value;
}

/** Converters by the type in the schema. */
const CONVERTERS: ReadonlyMap<unknown, (value: unknown, schema: Schema) => unknown> = new Map([
  ['integer', toNumber],
  ['number', toNumber],
  ['boolean', toBoolean],
  ['string', toText],
  ['array', toList],
  ['object', toMap],
]);

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
}

function toBoolean(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

function toText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

function toList(value: unknown, { items }: Schema): unknown {
  const list = typeof value === 'string' ? fromJson(value, Array.isArray) : value;
  return Array.isArray(list) && isMap(items) ? list.map((item) => convert(item, asSchema(items))) : list;
}

function toMap(value: unknown, schema: Schema): unknown {
  const map = typeof value === 'string' ? fromJson(value, isMap) : value;
  return isMap(map) ? convertFields(map, schema) : map;
}

function convertFields(map: Readonly<Record<string, unknown>>, schema: Schema): Readonly<Record<string, unknown>> {
  const properties = isMap(schema['properties']) ? schema['properties'] : {};
  const others = schema['additionalProperties'];
  const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : others);
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => {
      const field = schemaOf(name);
      return [name, isMap(field) ? convert(value, field) : value];
    }),
  );
}

/** Decimal numbers as in JSON: no hexadecimal digits and no spaces, which would rather be text. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Parses a text as JSON, if the result is of the wanted kind; otherwise returns the text. */
function fromJson(text: string, isWanted: (value: unknown) => boolean): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return isWanted(value) ? value : text;
  } catch {
    // Invalid JSON stays a text, which parsing rejects.
    return text;
  }
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const asSchema = (value: unknown): Schema => value as Schema;

/**
 * Instructions for a model about all tools together.
 * @param set the tools that it has
 * @param start where commands start, as words for the model
 */
export function toolInstructions(set: ToolSet, start: string = WORKSPACE): string {
  const sessions = TOOL_SETS[set].length > 1;
  return [
    'Shell commands on this machine.',
    sessions
      ? 'Use run_command for one command; open_session and execute_command when directory, variables or background jobs must last.'
      : 'run_command runs one.',
    `Commands start in ${start}.`,
    'Every answer is JSON. stdout and stderr are exact. exit_code is the true one: 124 after a time-out, 128+n for signal n.',
    '`next` in an answer is the call to make next: a status of confirmation_required means that the command has not run yet.',
  ].join(' ');
}
