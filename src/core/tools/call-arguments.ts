import type { SchemaNode } from '../protocol/json-schema.js';
import { parsePayload } from '../protocol/problems.js';
import { requests } from '../protocol/requests.js';
import type { Tool } from './tool.js';

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
function acceptedSchema({ schema }: Tool): SchemaNode {
  const { properties = {} } = schema as SchemaNode;
  const { timeout_ms: timeout } = properties;
  return { type: 'object', properties: { ...(timeout && { timeout }), ...properties } };
}

/** Decimal numbers as in JSON: no hexadecimal digits and no spaces, which would rather be text. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/**
 * Converts a value to the type in its schema, or returns it unchanged where that is ambiguous; parsing then reports the
 * problem.
 */
function convert(value: unknown, schema: SchemaNode): unknown {
  switch (schema.type) {
    case 'integer':
    case 'number':
      return typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
    case 'boolean':
      return BOOLEANS.get(value) ?? value;
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    case 'array':
      return convertList(fromJson(value, Array.isArray), schema);
    case 'object':
      return convertMap(fromJson(value, isMap), schema);
    default:
      return value;
  }
}

const convertList = (list: unknown, { items = {} }: SchemaNode): unknown =>
  Array.isArray(list) ? list.map((item) => convert(item, items)) : list;

function convertMap(map: unknown, { properties = {}, additionalProperties: others }: SchemaNode): unknown {
  if (!isMap(map)) return map;
  const values = typeof others === 'object' ? others : {};
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [
      name,
      convert(value, Object.hasOwn(properties, name) ? (properties[name] ?? {}) : values),
    ]),
  );
}

/** Parses a text as JSON, if the result is of the wanted kind; otherwise returns the value. */
function fromJson(value: unknown, isWanted: (parsed: unknown) => boolean): unknown {
  if (typeof value !== 'string') return value;
  try {
    const parsed = JSON.parse(value) as unknown;
    return isWanted(parsed) ? parsed : value;
  } catch {
    // Invalid JSON stays a text, which parsing rejects.
    return value;
  }
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
