import { z } from 'zod';

/** A JSON Schema, or a part of one, with the keywords that zod writes. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly description?: string;
}

/** The JSON Schema of a payload: as input, because the output of an optional field's transformation has none. */
export const jsonSchemaOf = (schema: z.ZodType): SchemaNode =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as SchemaNode;

/** The alternatives of a value, each a schema of one type. */
export function choicesOf(node: SchemaNode): readonly SchemaNode[] {
  const choices = node.anyOf ?? node.oneOf ?? node.allOf;
  if (choices) return choices.flatMap(choicesOf);
  return Array.isArray(node.type) ? node.type.map((type: string) => ({ ...node, type })) : [node];
}

/** Whether a bound carries information: JSON Schema gives every integer the bounds of a double. */
export const isBound = (bound: number | undefined): bound is number =>
  bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;

/**
 * Rewrites a schema for readers: without the keywords that tell them nothing, and without `null` for fields that may be
 * absent, since it counts as absent for every field.
 */
export function simplifySchema(schema: unknown, isNoise: (keyword: string, value: unknown) => boolean): unknown {
  const simplify = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(simplify);
    if (typeof node !== 'object' || node === null) return node;
    const { type, ...others } = node as SchemaNode;
    const kept = Object.entries(others).filter(([keyword, value]) => !isNoise(keyword, value));
    const fields = kept.map(([keyword, value]) => [
      keyword,
      keyword === 'properties' ? simplifyProperties(others) : simplify(value),
    ]);
    return { ...Object.fromEntries(fields), ...(type !== undefined && { type }) };
  };
  // Properties may have the names of keywords.
  const simplifyProperties = ({ properties = {}, required = [] }: SchemaNode) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, field]) => {
        const simple = simplify(field) as SchemaNode;
        return [name, required.includes(name) ? simple : withoutNull(simple)];
      }),
    );
  return simplify(schema);
}

function withoutNull(field: SchemaNode): SchemaNode {
  const { anyOf, type, ...others } = field;
  if (Array.isArray(type)) return { ...others, type: onlyOne(type.filter((name: string) => name !== 'null')) };
  if (!anyOf) return field;
  const choices = anyOf.filter((choice) => choice.type !== 'null');
  const [only] = choices;
  // Keywords of the field itself take precedence over those of its type.
  return choices.length === 1 && only ? { ...withoutNull(only), ...others } : { ...others, anyOf: choices };
}

const onlyOne = (types: readonly string[]): string | readonly string[] => (types.length === 1 ? types.join('') : types);
