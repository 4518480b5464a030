import fc from 'fast-check';

/** The part of a JSON Schema that values are made from. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Values for fields of certain names, whatever their schema says. */
export type FieldValues = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Largest number that is tried where a schema sets no bound of its own. */
const LARGE = 100_000;
/** Most entries of a list or a map. */
const MOST_ENTRIES = 4;

/** Values that a schema accepts, or nearly so: its types, choices and bounds, but not its patterns. */
export function valuesOf(node: SchemaNode, named: FieldValues): fc.Arbitrary<unknown> {
  if (node.anyOf) return fc.oneof(...node.anyOf.map((choice) => valuesOf(choice, named)));
  if (node.enum) return fc.constantFrom(...node.enum);
  if ('const' in node) return fc.constant(node.const);
  const types = [node.type ?? 'bytes'].flat();
  return fc.oneof(...types.map((type) => (MAKERS[type] ?? MAKERS['bytes']!)(node, named)));
}

type Maker = (node: SchemaNode, named: FieldValues) => fc.Arbitrary<unknown>;

const MAKERS: Readonly<Record<string, Maker>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum = 0, maximum = LARGE }) =>
    fc.oneof(fc.constantFrom(minimum, Math.min(maximum, LARGE)), fc.integer({ min: 0, max: LARGE })),
  number: () => fc.double({ min: 0, max: LARGE, noNaN: true }),
  // Paths that nobody can remove: the daemon executes a fuzzed `remove_path`, sometimes as root.
  string: () => fc.oneof(fc.constantFrom('', 'x', '/proc', '.', 'none', 'bash'), fc.string({ maxLength: 20 })),
  array: ({ items = {} }, named) => fc.array(valuesOf(items, named), { maxLength: MOST_ENTRIES }),
  object: objectsOf,
  bytes: () => fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
};

function objectsOf({ properties = {}, additionalProperties: others }: SchemaNode, named: FieldValues) {
  const fields = Object.entries(properties).map(
    ([name, field]) => [name, named[name] ?? valuesOf(field, named)] as const,
  );
  const known = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  if (typeof others !== 'object') return known;
  const keys = fc.oneof(fc.constantFrom('A', 'PATH', 'HOME', '__proto__', 'a b', '1'), fc.string({ maxLength: 5 }));
  return fc.dictionary(keys, valuesOf(others, named), { maxKeys: MOST_ENTRIES });
}
