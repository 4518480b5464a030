import { COMMAND_CLASSES } from '../../core/policy/model/classes.js';
import { MASK, SecretMask } from '../../core/secrets/secret-mask.js';
import type { Configuration } from '../model/configuration.js';
import { type ConfigurationLayers, layerOf } from './layers.js';
import { formatLogFormat } from '../sections/log-format.js';
import type { CheckedConfiguration } from '../model/schema.js';
import type { Setting } from '../model/settings.js';
import { isMapping } from './values.js';

/** A key of the configuration with its effective value. */
export interface EffectiveSetting {
  /** Path as in the file. */
  readonly path: readonly string[];
  /** Value in the units of the file; undefined for none. Secrets are masked. */
  readonly value: unknown;
  /** `default`, `line 3`, the name of an environment variable, or `command line`. */
  readonly source: string;
}

/** Lists all keys in the order of the sections, with values and sources. */
export function effectiveSettings(
  checked: CheckedConfiguration,
  configuration: Configuration,
  layers: ConfigurationLayers,
  settings: readonly Setting[],
): readonly EffectiveSetting[] {
  const derived = deriveValues(configuration);
  const mask = new SecretMask(configuration.secrets);
  return settings.map(({ path }) => {
    const key = path.join('.');
    const value = derived.has(key) ? derived.get(key) : valueAt(checked, path);
    return { path, value: mask.value(withoutSecrets(key, value)), source: sourceOf(layers, path) };
  });
}

/** Values that depend on others, on the environment or on the current directory. */
function deriveValues({ adapter, logging, audit, confirmation, llm, socketio }: Configuration): Map<string, unknown> {
  const classes = COMMAND_CLASSES.map((name): [string, unknown] => [
    `confirmation.classes.${name}`,
    confirmation.modes[name] ?? confirmation.actions[name],
  ]);
  const services = Object.entries(llm.http).flatMap(([name, { baseUrl, model }]): [string, unknown][] => [
    [`llm.${name}.base_url`, baseUrl],
    [`llm.${name}.model`, model],
  ]);
  return new Map<string, unknown>([
    ['adapter.workspace_directory', adapter.workspaceDirectory],
    ['adapter.state_directory', adapter.stateDirectory],
    ['adapter.shell', adapter.shell],
    ['adapter.max_output_size', adapter.maxOutputSize],
    ['adapter.begin_output_size', adapter.beginOutputSize],
    ['adapter.end_output_size', adapter.endOutputSize],
    ['logging.log_file_path', logging.filePath],
    ['logging.log_format', formatLogFormat(logging.format)],
    ['socketio.unix_socket', socketio.unixSocket],
    ['audit.file', audit.filePath],
    ['confirmation.mode', confirmation.mode],
    ['confirmation.preset', confirmation.preset],
    ['llm.models_file', llm.modelsFile],
    ['llm.worktree_directory', llm.worktreeDirectory],
    ...classes,
    ...services,
  ]);
}

const valueAt = (tree: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (isMapping(inner) ? inner[key] : undefined), tree);

/**
 * Masks keys of services, whether or not they are listed as secrets, and the variables of tools, which may contain
 * keys.
 */
function withoutSecrets(key: string, value: unknown): unknown {
  if (key === 'llm.shell_providers') return maskVariables(value);
  const isSecret = key.endsWith('.api_key') || key === 'secrets.values';
  if (!isSecret || value === undefined) return value;
  return Array.isArray(value) ? value.map(() => MASK) : MASK;
}

function maskVariables(providers: unknown): unknown {
  if (!isMapping(providers)) return providers;
  const masked = Object.entries(providers).map(([name, provider]): [string, unknown] => {
    const env = isMapping(provider) ? provider['env'] : undefined;
    if (!isMapping(provider) || !isMapping(env)) return [name, provider];
    return [name, { ...provider, env: Object.fromEntries(Object.keys(env).map((variable) => [variable, MASK])) }];
  });
  return Object.fromEntries(masked);
}

function sourceOf(layers: ConfigurationLayers, path: readonly string[]): string {
  const layer = layerOf(layers, path);
  if (layer.kind === 'flags') return 'command line';
  if (layer.kind === 'environment') return layer.name;
  if (valueAt(layers.yaml.tree, path) === undefined) return 'default';
  const position = layers.yaml.locate(path, 'key');
  return position ? `line ${position.line}` : 'the file';
}
