import { z } from 'zod';

import { confirmationInfo, judgedCommand } from '../protocol/confirmations.js';
import { isBound, simplifySchema } from '../protocol/json-schema.js';
import { type RequestName, requests } from '../protocol/requests.js';
import {
  checkpointInfo,
  commandInfo,
  commandResult,
  type EventName,
  events,
  hostEntry,
  processInfo,
  resourceUse,
  sessionInfo,
} from '../protocol/results.js';

/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How a kind of description shows what JSON Schema alone does not say. */
export interface SchemaStyle {
  readonly target: 'draft-7' | 'draft-2020-12';
  readonly bytes: JsonSchema;
}

/** The schemas of the protocol, as OpenAPI and AsyncAPI have them below `components`. */
export interface ProtocolSchemas {
  /** By name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly inputOf: (name: RequestName) => JsonSchema;
  readonly outputOf: (name: RequestName) => JsonSchema;
  readonly eventOf: (name: EventName) => JsonSchema;
}

/** Schemas that several messages share. */
const SHARED: Readonly<Record<string, z.ZodType>> = {
  CommandResult: commandResult,
  CommandInfo: commandInfo,
  Confirmation: confirmationInfo,
  JudgedCommand: judgedCommand,
  Session: sessionInfo,
  Checkpoint: checkpointInfo,
  HostUsage: hostEntry,
  ProcessInfo: processInfo,
  ResourceUse: resourceUse,
};

/** Names of the schemas: `OpenSessionRequest`, `OpenSessionAnswer`, `CommandOutputEvent`, and those that are shared. */
function namedSchemas(): Map<z.ZodType, string> {
  const names = new Map(Object.entries(SHARED).map(([name, schema]) => [schema, name]));
  const add = (schema: z.ZodType, name: string) => names.set(schema, names.get(schema) ?? name);
  for (const [name, { input, output }] of Object.entries(requests)) {
    add(input, `${pascal(name)}Request`);
    add(output, `${pascal(name)}Answer`);
  }
  for (const [name, { schema }] of Object.entries(events)) add(schema, `${pascal(name)}Event`);
  return names;
}

const pascal = (name: string): string =>
  name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const referenceTo = (name: string): string => `#/components/schemas/${name}`;

/** Derives the JSON Schemas of all requests, answers and events. */
export function protocolSchemas({ target, bytes }: SchemaStyle): ProtocolSchemas {
  const names = namedSchemas();
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    target,
    // As input, because the output of an optional field's transformation cannot be derived from its schema.
    io: 'input',
    unrepresentable: 'any',
    uri: referenceTo,
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'custom') Object.assign(jsonSchema, bytes);
      // The format says it, and the pattern is no help to people.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  const reference = (schema: z.ZodType) => ({ $ref: referenceTo(names.get(schema) ?? '') });
  return {
    schemas: simplifyEach(schemas),
    inputOf: (name) => reference(requests[name].input),
    outputOf: (name) => reference(requests[name].output),
    eventOf: (name) => reference(events[name].schema),
  };
}

const simplifyEach = (schemas: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, simplifySchema(schema, isNoise) as JsonSchema]),
  );

/** Keywords that only zod needs, and the bounds of a double. */
const isNoise = (keyword: string, value: unknown): boolean =>
  ['$schema', '$id', 'id'].includes(keyword) || (typeof value === 'number' && !isBound(value));
