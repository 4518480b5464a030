import { z } from 'zod';

/** The parts of a JSON Schema that restrict a value. */
interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/**
 * The requirement for the value at a path of a schema, as the end of a sentence: `text of 1 to 128 characters`, `a
 * whole number from 1 to 5`, `one of "a", "b"`.
 */
function requirementAt(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as SchemaNode;
  const nodes = path.reduce<readonly SchemaNode[]>(
    (at, step) => at.flatMap(choicesOf).flatMap((node) => childOf(node, step) ?? []),
    [root],
  );
  const choices = nodes.flatMap(choicesOf).filter(({ type }) => type !== 'null');
  return [...new Set(choices.map(describeNode))].join(' or ') || 'something else';
}

function childOf(node: SchemaNode, step: PropertyKey): SchemaNode | undefined {
  if (typeof step === 'number') return node.items;
  const { properties = {}, additionalProperties: values } = node;
  const name = String(step);
  if (Object.hasOwn(properties, name)) return properties[name];
  return typeof values === 'object' ? values : undefined;
}

function choicesOf(node: SchemaNode): readonly SchemaNode[] {
  const choices = node.anyOf ?? node.oneOf ?? node.allOf;
  if (choices) return choices.flatMap(choicesOf);
  return Array.isArray(node.type) ? node.type.map((type: string) => ({ ...node, type })) : [node];
}

function describeNode(node: SchemaNode): string {
  if (node.enum) return node.enum.length === 1 ? show(node.enum[0]) : `one of ${node.enum.map(show).join(', ')}`;
  if (node.const !== undefined) return show(node.const);
  switch (node.type) {
    case 'string':
      return `text${describeLength(node)}`;
    case 'integer':
      return `a whole number${describeRange(node)}`;
    case 'number':
      return `a number${describeRange(node)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list${describeSize(node)}`;
    case 'object':
      return 'an object';
    default:
      return 'bytes';
  }
}

const show = (value: unknown): string => JSON.stringify(value);

function describeLength({ minLength = 0, maxLength }: SchemaNode): string {
  if (maxLength !== undefined) return ` of ${minLength} to ${maxLength} characters`;
  return minLength > 0 ? ' that is not empty' : '';
}

function describeSize({ minItems = 0, maxItems }: SchemaNode): string {
  if (maxItems !== undefined) return ` of ${minItems} to ${maxItems} entries`;
  return minItems > 0 ? ' that is not empty' : '';
}

/** JSON Schema gives every integer the bounds of a double, which carry no information. */
function describeRange({ minimum, maximum, exclusiveMinimum: above }: SchemaNode): string {
  const isBounded = (bound: number | undefined): bound is number =>
    bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  if (isBounded(above)) return ` above ${above}${isBounded(maximum) ? ` and at most ${maximum}` : ''}`;
  if (isBounded(minimum) && isBounded(maximum)) return ` from ${minimum} to ${maximum}`;
  if (isBounded(minimum)) return ` of at least ${minimum}`;
  return isBounded(maximum) ? ` of at most ${maximum}` : '';
}

/** Longest text that is repeated in a message, in characters. */
const MAX_SHOWN = 40;

/** Beginnings of the default messages of zod; all other messages come from the schemas and are plain already. */
const ZOD_MESSAGE = /^(?:Invalid|Too (?:small|big)|Unrecognized|Expected)/;

/** One problem with an input. */
interface PlainIssue {
  /** Dotted path of the field; empty for the input as a whole. */
  readonly field: string;
  /** A sentence that names the field, states the requirement, and repeats the actual value. */
  readonly message: string;
}

/**
 * Describes a validation issue in plain words: `` `command` is missing: it must be text ``, or `` `timeout_ms` must be
 * a whole number from 1 to 5; it is "abc" ``.
 * @param whole name of the input as a whole: `the payload`
 */
export function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodObject, input: unknown, whole: string): PlainIssue {
  if (issue.code === 'unrecognized_keys') return describeUnknown(issue, schema);
  const field = issue.path.join('.');
  const name = field === '' ? whole : `\`${field}\``;
  const [inner] = issue.code === 'invalid_key' ? issue.issues : [];
  const own = inner?.message ?? issue.message;
  const value = valueAt(input, issue.path);
  if (!ZOD_MESSAGE.test(own)) return { field, message: joinOwn(name, own, value) };
  const requirement = requirementAt(schema, issue.path);
  if (value === undefined || value === null) return { field, message: `${name} is missing: it must be ${requirement}` };
  return { field, message: `${name} must be ${requirement}; it is ${describeValue(value)}` };
}

/** Messages of schemas that begin with a verb continue the name of the field; others are complete sentences. */
function joinOwn(name: string, own: string, value: unknown): string {
  if (own.startsWith('must ')) return `${name} ${own}${value === undefined ? '' : `; it is ${describeValue(value)}`}`;
  return own.startsWith('is ') ? `${name} ${own}` : `${name}: ${own}`;
}

function describeUnknown({ path, keys }: z.core.$ZodIssueUnrecognizedKeys, schema: z.ZodObject): PlainIssue {
  const parent = path.join('.');
  const field = [parent, keys[0]].filter(Boolean).join('.');
  const where = parent === '' ? '' : ` in \`${parent}\``;
  const known = parent === '' ? `; its fields are ${Object.keys(schema.shape).join(', ') || 'none'}` : '';
  return { field, message: `there is no field ${keys.map((key) => JSON.stringify(key)).join(', ')}${where}${known}` };
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (value instanceof Uint8Array) return 'bytes';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${String(value).length} characters)` : text;
}

const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step)
        ? (inner as Record<PropertyKey, unknown>)[step]
        : undefined,
    input,
  );
