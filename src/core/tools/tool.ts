import { z } from 'zod';

import { isMapping } from '../json.js';
import { jsonSchemaOf, type SchemaNode, simplifySchema } from '../protocol/json-schema.js';
import { parsePayload } from '../protocol/problems.js';
import { type Request, type RequestInput, type RequestName, requests } from '../protocol/requests.js';

/** A JSON Schema of an object: draft 2020-12. */
export interface ObjectSchema {
  type: 'object';
  properties: Record<string, z.core.util.JSONType>;
  required?: string[];
  [keyword: string]: z.core.util.JSONType | undefined;
}

/** Keywords that cost a model tokens without information: an error names the problem when a value violates one. */
const HIDDEN_KEYWORDS: ReadonlySet<string> = new Set(['$schema', 'pattern', 'propertyNames', 'minLength', 'maxLength']);

/** Fields that are not shown: a daemon alone refuses them. */
const CLUSTER_FIELDS: ReadonlySet<string> = new Set(['node', 'placement']);

/** Maxima from this value on are not shown: they are far from what a model gives, in the unit of the field. */
const DISTANT_MAXIMUM = 100_000;

function argumentSchema(input: z.ZodObject): ObjectSchema {
  const schema = simplifySchema(jsonSchemaOf(input), isNoise) as ObjectSchema;
  const properties = Object.entries(schema.properties).filter(([name]) => !CLUSTER_FIELDS.has(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

const isNoise = (keyword: string, value: unknown): boolean =>
  HIDDEN_KEYWORDS.has(keyword) || (keyword === 'maximum' && typeof value === 'number' && value >= DISTANT_MAXIMUM);

/** Effects of a tool, for clients that decide whether a model may call it. The terms are those of MCP. */
interface ToolHints {
  readonly readOnlyHint: boolean;
  /** It may destroy data. */
  readonly destructiveHint: boolean;
  /** Calling it twice has the same effect as calling it once. */
  readonly idempotentHint: boolean;
  /** It may access systems beyond this machine. */
  readonly openWorldHint: boolean;
}

/** A request of the protocol, as a tool of a model. */
export interface Tool {
  readonly name: string;
  /** Earlier names: calls by them are accepted, but they are not listed. */
  readonly formerNames: readonly string[];
  /** Short title for people. */
  readonly title: string;
  /**
   * The description for the model.
   * @param start where commands start, as words for the model: `the workspace`, or a path
   */
  describe(start: string): string;
  readonly input: z.ZodObject;
  /** Schema of the arguments as shown to a model. */
  readonly schema: ObjectSchema;
  readonly hints: ToolHints;
  readonly request: RequestName;
  /** Whether clients that load tools on demand should load this tool with the first request. */
  readonly isMain: boolean;
  /** Builds the request's payload from the parsed arguments. */
  toPayload(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/**
 * A field of a tool: `true` for the field of the request as it is, a text for other words, a schema for one that the request
 * does not have or that is narrower for models.
 */
type Field = true | string | z.ZodType;

type Fields<N extends RequestName, F> = {
  readonly [K in keyof F]: K extends keyof Request<N> ? Field : z.ZodType;
};

type Arguments<N extends RequestName, F> = {
  readonly [K in keyof F]: F[K] extends z.ZodType
    ? z.output<F[K]>
    : K extends keyof Request<N>
      ? Request<N>[K]
      : undefined;
};

interface ToolEntry<N extends RequestName, F> {
  /** @default the name of the request */
  readonly name?: string;
  readonly formerNames?: readonly string[];
  readonly title: string;
  readonly description: string | ((start: string) => string);
  /** The fields that are offered, in this order; @default all of the request */
  readonly fields?: F;
  /** Values of the payload where the model gives none. */
  readonly defaults?: Partial<RequestInput<N>>;
  /** Makes the payload of arguments that are not its fields as they are. */
  readonly payload?: (args: Arguments<N, F>) => Partial<RequestInput<N>>;
  /** Effects that the facts of the request do not tell. */
  readonly hints?: Partial<ToolHints>;
  readonly isMain?: boolean;
}

/** Makes a tool of a request. Its schemas are made when they are first used. */
export function toolOf<N extends RequestName, const F extends Fields<N, F>>(
  request: N,
  { name = request, formerNames = [], title, description, fields, ...entry }: ToolEntry<N, F>,
): Tool {
  let input: z.ZodObject | undefined;
  let schema: ObjectSchema | undefined;
  return {
    request,
    name,
    formerNames,
    title,
    describe: (start) => (typeof description === 'string' ? description : description(start)),
    get input() {
      return (input ??= inputOf(request, fields));
    },
    get schema() {
      return (schema ??= argumentSchema(this.input));
    },
    hints: hintsOf(request, entry.hints),
    isMain: entry.isMain ?? false,
    toPayload: (args) => {
      // The arguments were parsed with the schema of these fields.
      const payload: Payload = entry.payload?.(args as Arguments<N, F>) ?? args;
      const filledIn = Object.entries<unknown>(entry.defaults ?? {}).map(
        ([field, value]) => [field, payload[field] ?? value] as const,
      );
      return { ...payload, ...Object.fromEntries(filledIn) };
    },
  };
}

type Payload = Readonly<Record<string, unknown>>;

function inputOf(request: RequestName, fields: Readonly<Record<string, Field>> | undefined): z.ZodObject {
  const { shape }: z.ZodObject = requests[request].input;
  const offered = fields ?? Object.fromEntries(Object.keys(shape).map((name) => [name, true] as const));
  const schemas = Object.entries(offered).map(([name, field]) => {
    if (field instanceof z.ZodType) return [name, field];
    const own = shape[name] as z.ZodType;
    return [name, field === true ? own : own.describe(field)];
  });
  return z.strictObject(Object.fromEntries(schemas) as z.ZodRawShape);
}

/** A request that is safe to repeat and not recorded each time only reads. What else is known comes from the tool. */
function hintsOf(request: RequestName, known: Partial<ToolHints> = {}): ToolHints {
  const { repeat, recorded } = requests[request];
  const isSafe = repeat === 'safe';
  const readOnlyHint = known.readOnlyHint ?? (isSafe && recorded === 'refusals');
  return { readOnlyHint, destructiveHint: !readOnlyHint, idempotentHint: isSafe, openWorldHint: false, ...known };
}

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
      return convertMap(fromJson(value, isMapping), schema);
    default:
      return value;
  }
}

const convertList = (list: unknown, { items = {} }: SchemaNode): unknown =>
  Array.isArray(list) ? list.map((item) => convert(item, items)) : list;

function convertMap(map: unknown, { properties = {}, additionalProperties: others }: SchemaNode): unknown {
  if (!isMapping(map)) return map;
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
