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
export function requirementAt(schema: z.ZodType, path: readonly PropertyKey[]): string {
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
