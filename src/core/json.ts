/** A mapping in parsed JSON or YAML. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for a mapping, false for lists and all other values. */
export const isMapping = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is a mapping, otherwise an empty one. */
export const objectOf = (value: unknown): JsonObject => (isMapping(value) ? value : {});

/** The value if it is a list, otherwise an empty list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value if it is a text, otherwise undefined. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The value if it is a finite number, otherwise undefined; a JSON number beyond the range of a double is infinite. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** The value at a path; undefined when there is none. */
export function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value, step) => {
    if (Array.isArray(value) && typeof step === 'number') return value[step] as unknown;
    return isMapping(value) && typeof step === 'string' && Object.hasOwn(value, step) ? value[step] : undefined;
  }, tree);
}

/** Returns a copy of a tree with another value at a path. The rest is shared; what is no mapping gets no keys. */
export function withValueAt<T>(tree: T, path: readonly string[], value: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return value as T;
  if (tree !== undefined && !isMapping(tree)) return tree;
  const mapping: JsonObject = tree ?? {};
  return { ...mapping, [key]: withValueAt(mapping[key], rest, value) } as T;
}
