import { z } from 'zod';

/** The part of a JSON Schema that the documentation shows. */
interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly description?: string;
}

/** One field of a message in the documentation. */
export interface FieldRow {
  /** Dotted path, with `[]` for the entries of a list: `sessions[].session_id`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** The fields of a message; nested fields follow their parent. */
export function listFields(schema: z.ZodType): readonly FieldRow[] {
  // As input, because the output of an optional field's transformation cannot be derived from its schema.
  return rowsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as SchemaNode, '');
}

function rowsOf(node: SchemaNode, prefix: string): FieldRow[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, field]) => {
    const name = `${prefix}${key}`;
    const isRequired = node.required?.includes(key) ?? false;
    // An optional field may also be null, which counts as absent; the document states this once for all fields.
    const choices = choicesOf(field).filter(({ type }) => isRequired || type !== 'null');
    const description = field.description ?? choices.find((choice) => choice.description)?.description ?? '';
    const row = { name, type: choices.map(typeOf).join(' or '), isRequired, description };
    return [row, ...choices.flatMap((choice) => nestedRows(choice, name))];
  });
}

function nestedRows(node: SchemaNode, name: string): FieldRow[] {
  return node.items ? rowsOf(node.items, `${name}[].`) : rowsOf(node, `${name}.`);
}

/** Alternatives of a field, each a schema of one type. */
function choicesOf(node: SchemaNode): readonly SchemaNode[] {
  if (node.anyOf) return node.anyOf.flatMap(choicesOf);
  return Array.isArray(node.type) ? node.type.map((type: string) => ({ ...node, type })) : [node];
}

function typeOf(node: SchemaNode): string {
  if (node.enum) return node.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const { type } = node;
  if (type === undefined) return 'bytes';
  if (type === 'array')
    return `list of ${choicesOf(node.items ?? {})
      .map(typeOf)
      .join(' or ')}`;
  if (type === 'object') return typeof node.additionalProperties === 'object' ? 'map of name to string' : 'object';
  if (type === 'string') return `string${describeText(node)}`;
  return `${String(type)}${describeRange(node)}`;
}

function describeText({ format, pattern, minLength, maxLength }: SchemaNode): string {
  if (format === 'date-time') return ', ISO 8601 in UTC';
  if (pattern !== undefined) return `, \`${pattern}\``;
  if (maxLength !== undefined) return `, ${minLength ?? 0} to ${maxLength} characters`;
  return minLength === 1 ? ', not empty' : '';
}

/** JSON Schema gives every integer the bounds of a double, which carry no information. */
function describeRange({ minimum, maximum }: SchemaNode): string {
  const isBounded = (bound: number | undefined) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  if (isBounded(minimum) && isBounded(maximum)) return `, ${minimum} to ${maximum}`;
  if (isBounded(minimum)) return `, at least ${minimum}`;
  return isBounded(maximum) ? `, at most ${maximum}` : '';
}
