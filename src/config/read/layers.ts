import type { EnvironmentOverride } from './environment-variables.js';
import { isSection, type Setting } from '../model/settings.js';
import { isMapping, type Mapping, valueAt } from '../model/tree.js';
import type { YamlFile } from './yaml-file.js';

/** Sources of a configuration; later ones override earlier ones. */
export interface ConfigurationLayers {
  readonly yaml: YamlFile;
  readonly environment: readonly EnvironmentOverride[];
  readonly flags: Mapping;
}

/** Source of a value. */
export type Layer =
  | { readonly kind: 'file' }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'flags' };

/**
 * Merges all layers into one tree. Sections are merged key by key; a list or mapping that is a value is replaced as a
 * whole.
 */
export function mergeLayers(layers: ConfigurationLayers, settings: readonly Setting[]): unknown {
  const environment = layers.environment.map(({ path, value }) =>
    path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value),
  );
  return [...environment, layers.flags].reduce(
    (tree, layer) => merge(tree, layer, [], settings),
    merge({}, layers.yaml.tree, [], settings),
  );
}

/** The layer that provides the value at this path. */
export function layerOf(layers: ConfigurationLayers, path: readonly PropertyKey[]): Layer {
  if (hasPath(layers.flags, path)) return { kind: 'flags' };
  const override = layers.environment.find((candidate) => candidate.path.every((step, index) => path[index] === step));
  return override ? { kind: 'environment', name: override.name } : { kind: 'file' };
}

/** Whether a layer provides a value at this path; otherwise it is the default. */
export function isGiven(layers: ConfigurationLayers, path: readonly PropertyKey[]): boolean {
  return layerOf(layers, path).kind !== 'file' || valueAt(layers.yaml.tree, path) !== undefined;
}

/** A section without keys (all of them are commented out) is an empty section, not an invalid value. */
function merge(lower: unknown, upper: unknown, path: readonly string[], settings: readonly Setting[]): unknown {
  if (upper === undefined) return lower;
  if (!isSection(settings, path)) return upper;
  if (upper === null) return lower ?? {};
  if (!isMapping(upper) || (lower !== undefined && !isMapping(lower))) return lower ?? upper;
  return mergeSections(lower ?? {}, upper, path, settings);
}

function mergeSections(lower: Mapping, upper: Mapping, path: readonly string[], settings: readonly Setting[]): Mapping {
  const merged = new Map(Object.entries(lower));
  for (const [key, value] of Object.entries(upper)) {
    const inner = merge(merged.get(key), value, [...path, key], settings);
    if (inner !== undefined) merged.set(key, inner);
  }
  return Object.fromEntries(merged);
}

function hasPath(tree: unknown, path: readonly PropertyKey[]): boolean {
  const [step, ...rest] = path;
  if (tree === undefined) return false;
  if (step === undefined || !isMapping(tree)) return true;
  return typeof step === 'string' && Object.hasOwn(tree, step) && hasPath(tree[step], rest);
}
