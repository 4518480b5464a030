import type { z } from 'zod';

import { jsonSchemaOf, simplifySchema } from '../protocol/json-schema.js';
import { type RequestInput, type RequestName, requests } from '../protocol/requests.js';
import { MAX_TIMER_MS } from '../time.js';

type Json = z.core.util.JSONType;

/** A JSON Schema of an object: draft 2020-12. */
export interface ObjectSchema {
  type: 'object';
  properties: Record<string, Json>;
  required?: string[];
  [keyword: string]: Json | undefined;
}

/** Keywords that cost a model tokens without information: an error names the problem when a value violates one. */
const HIDDEN_KEYWORDS: ReadonlySet<string> = new Set(['$schema', 'pattern', 'propertyNames', 'minLength', 'maxLength']);

/** Fields that are not shown: a daemon alone refuses them. */
const CLUSTER_FIELDS: ReadonlySet<string> = new Set(['node', 'placement']);

/** Numbers from this value on are technical ceilings (timers, safe integers), in the unit of the field. */
const TECHNICAL_CEILING = MAX_TIMER_MS;

/**
 * The schema of a tool's arguments for a model: without `null`, which optional fields also accept, and without noise.
 */
function argumentSchema(input: z.ZodObject): ObjectSchema {
  const schema = simplifySchema(jsonSchemaOf(input), isNoise) as ObjectSchema;
  const properties = Object.entries(schema.properties).filter(([name]) => !CLUSTER_FIELDS.has(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

const isNoise = (keyword: string, value: unknown): boolean =>
  HIDDEN_KEYWORDS.has(keyword) || (keyword === 'maximum' && typeof value === 'number' && value >= TECHNICAL_CEILING);

/** Effects of a tool, for clients that decide whether a model may call it. The terms are those of MCP. */
interface ToolHints {
  /** It only reads. */
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
  /** The request that it sends. */
  readonly request: RequestName;
  /** Whether clients that load tools on demand should load this tool with the first request. */
  readonly isMain: boolean;
  /** Builds the request's payload from the parsed arguments. */
  toPayload(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** A tool whose definition differs from its request. */
interface ToolShape<N extends RequestName, S extends z.ZodObject> {
  readonly request: N;
  /** @default the name of the request */
  readonly name?: string;
  readonly formerNames?: readonly string[];
  readonly title: string;
  readonly description: string | ((start: string) => string);
  readonly input: S;
  readonly hints?: Partial<ToolHints>;
  readonly isMain?: boolean;
  readonly toPayload: (args: z.output<S>) => RequestInput<N>;
}

const NO_HINTS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};

/** Hints of a tool that only reads. */
export const LOOKS: Partial<ToolHints> = { readOnlyHint: true, idempotentHint: true };
/** Hints of a tool that runs arbitrary commands. */
export const RUNS: Partial<ToolHints> = { destructiveHint: true, openWorldHint: true };

/** Defines a tool whose arguments differ from those of its request. */
export function defineTool<N extends RequestName, S extends z.ZodObject>(shape: ToolShape<N, S>): Tool {
  const { request, title, input, name = request, formerNames = [], hints, isMain = false, description } = shape;
  let schema: ObjectSchema | undefined;
  return {
    request,
    title,
    input,
    name,
    formerNames,
    isMain,
    get schema() {
      return (schema ??= argumentSchema(input));
    },
    hints: { ...NO_HINTS, ...hints },
    describe: (start) => (typeof description === 'string' ? description : description(start)),
    // The arguments were parsed with the schema of this shape.
    toPayload: (args) => shape.toPayload(args as z.output<S>),
  };
}

/** Defines a tool with the arguments of its request. */
export const toolOf = <N extends RequestName>(
  request: N,
  shape: Pick<ToolShape<N, z.ZodObject>, 'title' | 'description' | 'hints'>,
): Tool =>
  defineTool({
    ...shape,
    request,
    input: requests[request].input as z.ZodObject,
    toPayload: (args) => args as RequestInput<N>,
  });
