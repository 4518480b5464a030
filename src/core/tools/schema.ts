import { z } from 'zod';

import type { Tool } from './tool.js';

type Json = z.core.util.JSONType;

/** A JSON Schema of an object: draft 2020-12. */
export interface ObjectSchema {
  type: 'object';
  properties: Record<string, Json>;
  required?: string[];
  [keyword: string]: Json | undefined;
}

/** The schema of a tool's arguments. Optional fields take `null` too, which no model needs to know. */
export function argumentSchema({ input }: Tool): ObjectSchema {
  const schema = z.toJSONSchema(input, { io: 'input' }) as Json;
  const shown = withoutNull(schema) as ObjectSchema;
  delete shown['$schema'];
  return shown;
}

/** A schema without the alternative `null`, at any depth. */
function withoutNull(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutNull);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { anyOf, type, ...rest } = schema;
  const shown: Record<string, Json> = {};
  for (const [key, value] of Object.entries(rest)) shown[key] = withoutNull(value);
  if (type !== undefined) shown['type'] = withoutNullType(type);
  if (!Array.isArray(anyOf)) return shown;
  const others = anyOf.filter((option) => !isNull(option)).map(withoutNull);
  const [only] = others;
  // What is said of the field goes before what is said of its kind.
  if (others.length === 1) return { ...(only as Record<string, Json>), ...shown };
  return { ...shown, anyOf: others };
}

function withoutNullType(type: Json): Json {
  if (!Array.isArray(type)) return type;
  const others = type.filter((name) => name !== 'null');
  return others.length === 1 ? (others[0] ?? others) : others;
}

const isNull = (option: Json): boolean =>
  typeof option === 'object' && option !== null && !Array.isArray(option) && option['type'] === 'null';
