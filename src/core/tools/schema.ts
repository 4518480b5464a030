import { z } from 'zod';

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
export function argumentSchema(input: z.ZodObject): ObjectSchema {
  const schema = shown(z.toJSONSchema(input, { io: 'input' }) as Json) as ObjectSchema;
  const properties = Object.entries(schema.properties).filter(([name]) => !CLUSTER_FIELDS.has(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

function shown(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(shown);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { anyOf, type, ...rest } = schema;
  const fields: Record<string, Json> = {};
  for (const [key, value] of Object.entries(rest)) if (!isNoise(key, value)) fields[key] = shownOf(key, value);
  if (type !== undefined) fields['type'] = withoutNullType(type);
  if (!Array.isArray(anyOf)) return fields;
  const others = anyOf.filter((option) => !isNull(option)).map(shown);
  const [only] = others;
  // Keywords of the field itself take precedence over those of its type.
  if (others.length === 1) return { ...(only as Record<string, Json>), ...fields };
  return { ...fields, anyOf: others };
}

/** Fields of an object may have the same name as a keyword. */
const shownOf = (key: string, value: Json): Json =>
  key === 'properties' && typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shown(field)]))
    : shown(value);

const isNoise = (key: string, value: Json): boolean =>
  HIDDEN_KEYWORDS.has(key) || (key === 'maximum' && typeof value === 'number' && value >= TECHNICAL_CEILING);

function withoutNullType(type: Json): Json {
  if (!Array.isArray(type)) return type;
  const others = type.filter((name) => name !== 'null');
  return others.length === 1 ? (others[0] ?? others) : others;
}

const isNull = (option: Json): boolean =>
  typeof option === 'object' && option !== null && !Array.isArray(option) && option['type'] === 'null';
