/** A mapping in parsed YAML or JSON. */
export type Mapping = Readonly<Record<string, unknown>>;

/** True for a mapping, false for lists and all other values. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path; undefined when there is none. */
export function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value, step) => {
    if (Array.isArray(value) && typeof step === 'number') return value[step] as unknown;
    return isMapping(value) && typeof step === 'string' && Object.hasOwn(value, step) ? value[step] : undefined;
  }, tree);
}

/** Returns a copy of a tree with another value at a path. The rest is shared. */
export function withValueAt<T>(tree: T, path: readonly string[], value: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return value as T;
  const mapping: Mapping = isMapping(tree) ? tree : {};
  return { ...mapping, [key]: withValueAt(mapping[key], rest, value) } as T;
}
