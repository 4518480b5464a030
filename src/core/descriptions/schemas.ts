import { z } from 'zod';

import { confirmationInfo, judgedCommand } from '../protocol/confirmations.js';
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
  /** The schema of bytes. */
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
    schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema) as JsonSchema])),
    inputOf: (name) => reference(requests[name].input),
    outputOf: (name) => reference(requests[name].output),
    eventOf: (name) => reference(events[name].schema),
  };
}

/** Keys that a schema below `components` does not have. */
const LEFT_OUT: ReadonlySet<string> = new Set(['$schema', '$id', 'id']);

/**
 * Returns a schema without what only zod needs to say: names of its own, the bounds of a double, and null for fields
 * that may be absent, which counts as absent for every field.
 */
function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== 'object' || node === null) return node;
  const { properties, ...others } = node as JsonSchema & { readonly properties?: JsonSchema };
  const { required = [] } = others as { readonly required?: readonly string[] };
  const kept = Object.entries(others).filter(([key, value]) => !LEFT_OUT.has(key) && !isBoundOfDouble(value));
  return {
    ...Object.fromEntries(kept.map(([key, value]) => [key, plain(value)])),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [
          name,
          plain(required.includes(name) ? field : withoutNull(field as JsonSchema)),
        ]),
      ),
    }),
  };
}

const isBoundOfDouble = (value: unknown): boolean => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

function withoutNull(field: JsonSchema): JsonSchema {
  const { anyOf, type, ...others } = field as JsonSchema & { readonly anyOf?: readonly JsonSchema[] };
  if (Array.isArray(type)) return { ...others, type: onlyOne(type.filter((one) => one !== 'null')) };
  if (!anyOf) return field;
  const choices = anyOf.filter((choice) => choice['type'] !== 'null');
  const [only] = choices;
  return choices.length === 1 && only ? { ...withoutNull(only), ...others } : { anyOf: choices, ...others };
}

const onlyOne = <T>(list: readonly T[]): T | readonly T[] | undefined => (list.length === 1 ? list[0] : list);
