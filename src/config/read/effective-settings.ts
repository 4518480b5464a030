import { MASK, SecretMask } from '../../core/secrets/secret-mask.js';
import type { CheckedConfiguration } from '../model/schema.js';
import type { Setting } from '../model/settings.js';
import { isMapping, type Mapping, valueAt, withValueAt } from '../model/tree.js';
import { type ConfigurationLayers, isGiven, layerOf } from './layers.js';

/** A key of the configuration with its effective value. */
export interface EffectiveSetting {
  /** Path as in the file. */
  readonly path: readonly string[];
  /** Value in the units of the file; undefined for none. Secrets are masked. */
  readonly value: unknown;
  /** `default`, `line 3`, the name of an environment variable, or `command line`. */
  readonly source: string;
}

/**
 * Lists all keys in the order of the sections, with values and sources.
 * @param secrets texts that are masked wherever they occur
 */
export function effectiveSettings(
  settled: CheckedConfiguration,
  secrets: readonly string[],
  layers: ConfigurationLayers,
  settings: readonly Setting[],
): readonly EffectiveSetting[] {
  const mask = new SecretMask(secrets);
  return settings.map((setting) => {
    const value = valueAt(settled, setting.path);
    return {
      path: setting.path,
      value: mask.value(hideSecrets(value, setting)),
      source: sourceOf(layers, setting, value),
    };
  });
}

/** Masks keys of services, whether or not they are listed as secrets, and the variables of tools, which may be keys. */
function hideSecrets(value: unknown, { isSecret, entries }: Setting): unknown {
  if (isSecret === true) return hideAll(value);
  const hidden = entries.filter((entry) => entry.isSecret === true).map(({ path }) => path);
  if (hidden.length === 0) return value;
  const hideIn = (entry: unknown) =>
    hidden.reduce((shown, path) => withValueAt(shown, path, hideAll(valueAt(shown, path))), entry);
  if (Array.isArray(value)) return value.map(hideIn);
  return isMapping(value) ? mapValues(value, hideIn) : value;
}

function hideAll(value: unknown): unknown {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.map(() => MASK);
  return isMapping(value) ? mapValues(value, () => MASK) : MASK;
}

const mapValues = (mapping: Mapping, change: (value: unknown) => unknown): Mapping =>
  Object.fromEntries(Object.entries(mapping).map(([key, value]) => [key, change(value)]));

function sourceOf(layers: ConfigurationLayers, { path, variable }: Setting, value: unknown): string {
  const layer = layerOf(layers, path);
  if (layer.kind === 'flags') return 'command line';
  if (layer.kind === 'environment') return layer.name;
  if (!isGiven(layers, path)) return value === undefined ? 'default' : (variable ?? 'default');
  const position = layers.yaml.locate(path, 'key');
  return position ? `line ${position.line}` : 'the file';
}
