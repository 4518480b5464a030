import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import type { z } from 'zod';

import { findNearest } from '../../core/nearest.js';
import type { RuleFault, TestedRule } from '../../core/policy/rules.js';
import { MASK, SecretMask } from '../../core/secrets.js';
import type { PathDefault } from '../fields.js';
import { type Configuration, homeOf, toConfiguration, userDirectory } from '../model/configuration.js';
import {
  ConfigurationError,
  type ConfigurationProblem,
  formatPath,
  isMapping,
  type Mapping,
  valueAt,
  withValueAt,
} from '../model/problems.js';
import { type CheckedConfiguration, type ConfigurationInput, configurationSchema } from '../model/schema.js';
import { isSection, listKeys, listSettings, type Setting, takesText } from '../model/settings.js';
import {
  describeValue,
  type EnvironmentOverride,
  expandVariables,
  hasVariables,
  quote,
  readEnvironmentVariables,
  readValue,
} from './environment-variables.js';
import { EMPTY_YAML_FILE, parseYamlFile, type YamlFile } from './yaml-file.js';

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
function effectiveSettings(
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

/** A problem that the schema has found. */
interface SchemaProblem {
  readonly path: readonly PropertyKey[];
  /** The part of the path with the problem. */
  readonly part: 'key' | 'value';
  readonly message: string;
}

/** Describes a problem in `tree` for people: the value found, and the accepted ones. */
function explainIssue(issue: z.core.$ZodIssue, tree: unknown, settings: readonly Setting[]): readonly SchemaProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      return {
        path: [...issue.path, key],
        part: 'key',
        message: explainUnknownKey(issue.path, key, { settings, tree }),
      };
    });
  }
  if (issue.code === 'invalid_key') {
    return [{ path: issue.path, part: 'key', message: issue.issues[0]?.message ?? issue.message }];
  }
  const sentence = isSection(settings, issue.path) ? 'must be a mapping of keys to values' : issue.message;
  const found = sentence.startsWith('must be') ? explainFound(valueAt(tree, issue.path), sentence) : '';
  return [{ path: issue.path, part: 'value', message: sentence + found }];
}

function explainFound(value: unknown, sentence: string): string {
  if (value === null) return '; there is nothing, leave the key out for its default';
  const isQuoted = typeof value === 'string' && sentence.includes('number') && typeof readValue(value) === 'number';
  return `; got ${describeValue(value)}${isQuoted ? ', write it without quotes' : ''}`;
}

function explainUnknownKey(
  section: readonly PropertyKey[],
  key: string,
  { settings, tree }: { readonly settings: readonly Setting[]; readonly tree: unknown },
): string {
  const inner = section.length === 0 ? sectionsIn(valueAt(tree, [key]), settings) : [];
  if (inner.length > 0) {
    const sections = inner.map(quote).join(', ');
    return `unknown key; ${sections} in it ${inner.length === 1 ? 'belongs' : 'belong'} to the top level of the file: remove this line, and the indentation below it`;
  }
  const keys = listKeys(settings, section);
  const nearest = findNearest(key, keys);
  if (nearest !== undefined) return `unknown key; did you mean ${quote(nearest)}?`;
  const elsewhere = settings.find((setting) => setting.path.at(-1) === key);
  if (elsewhere) return `unknown key; did you mean ${quote(formatPath(elsewhere.path))}?`;
  const place = section.length === 0 ? 'The sections are' : `The keys of ${formatPath(section)} are`;
  return `unknown key. ${place} ${keys.join(', ')}`;
}

/** Names of the keys of a value that are sections of the configuration. */
function sectionsIn(value: unknown, settings: readonly Setting[]): string[] {
  const sections = listKeys(settings, []);
  return isMapping(value) ? Object.keys(value).filter((key) => sections.includes(key)) : [];
}

/** Sources of a configuration; later ones override earlier ones. */
interface ConfigurationLayers {
  readonly yaml: YamlFile;
  readonly environment: readonly EnvironmentOverride[];
  readonly flags: Mapping;
}

/** Source of a value. */
type Layer =
  | { readonly kind: 'file' }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'flags' };

/**
 * Merges all layers into one tree. Sections are merged key by key; a list or mapping that is a value is replaced as a
 * whole.
 */
function mergeLayers(layers: ConfigurationLayers, settings: readonly Setting[]): unknown {
  const environment = layers.environment.map(({ path, value }) =>
    path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value),
  );
  return [...environment, layers.flags].reduce(
    (tree, layer) => merge(tree, layer, [], settings),
    merge({}, layers.yaml.tree, [], settings),
  );
}

/** The layer that provides the value at this path. */
function layerOf(layers: ConfigurationLayers, path: readonly PropertyKey[]): Layer {
  if (hasPath(layers.flags, path)) return { kind: 'flags' };
  const override = layers.environment.find((candidate) => candidate.path.every((step, index) => path[index] === step));
  return override ? { kind: 'environment', name: override.name } : { kind: 'file' };
}

/** Whether a layer provides a value at this path; otherwise it is the default. */
function isGiven(layers: ConfigurationLayers, path: readonly PropertyKey[]): boolean {
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

/** Inputs of `settle` besides the validated file. */
interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** The daemon's current directory. */
  readonly cwd: string;
  /** Returns the base directory of a relative path in this key. */
  readonly baseOf: (path: readonly string[]) => string;
}

/**
 * Fills in the values that depend on the surroundings of the daemon: paths become absolute, and values that environment
 * variables provide are added. The names and units stay those of the file.
 */
function settle(
  checked: CheckedConfiguration,
  settings: readonly Setting[],
  surroundings: Surroundings,
): CheckedConfiguration {
  // In the order of the keys: `adapter.state_directory` comes before the paths in it.
  return settings.reduce((settled, setting) => {
    const given = valueAt(settled, setting.path);
    const value =
      given === undefined ? missing(settled, setting, surroundings) : absolute(given, setting, surroundings);
    return value === given ? settled : withValueAt(settled, setting.path, value);
  }, checked);
}

function missing(
  settled: CheckedConfiguration,
  { variable, location }: Setting,
  { env, cwd }: Surroundings,
): string | undefined {
  if (variable !== undefined) return env[variable] || undefined;
  if (location?.default === undefined) return undefined;
  const directories: Record<PathDefault['in'], () => string | undefined> = {
    start_directory: () => cwd,
    state_home: () => userDirectory('state', env),
    state_directory: () => settled.adapter.state_directory,
  };
  return join(directories[location.default.in]() ?? cwd, location.default.name);
}

function absolute(value: unknown, { path, location }: Setting, { env, baseOf }: Surroundings): unknown {
  if (location === undefined) return value;
  if (Array.isArray(value)) return value.map((entry) => resolvePath(String(entry), baseOf(path), env));
  const text = String(value);
  return location.if?.(text) === false ? text : resolvePath(text, baseOf(path), env);
}

function resolvePath(path: string, base: string, env: NodeJS.ProcessEnv): string {
  const expanded = path === '~' || path.startsWith('~/') ? join(homeOf(env), path.slice(1)) : path;
  return resolve(base, expanded);
}

/** Sources of a configuration. Flags override the environment, and the environment overrides the file. */
export interface ConfigurationRequest {
  /** Path of the file; undefined for none: everything has a default. */
  readonly file?: string | undefined;
  /** Text of the file, if it has been read. */
  readonly text?: string | undefined;
  /**
   * Base of relative paths in the file. Default: the folder of the file; if that is named `config`, its parent.
   * Relative paths from other sources are relative to `cwd`.
   */
  readonly baseDirectory?: string | undefined;
  /** The environment: overrides, values of `${VAR}`, and variables that shells inherit. */
  readonly env: NodeJS.ProcessEnv;
  /** The current directory, absolute. */
  readonly cwd: string;
  /** Values of flags, with the file's names and units. */
  readonly overrides?: ConfigurationInput | undefined;
}

/** A configuration is parsed once in most processes: code that zod generates for that costs more than it saves, 20 ms of a start. */
const INTERPRETED = { jitless: true };

/** Returns the problems of a policy rule. */
export type RuleValidator = (rule: TestedRule) => readonly RuleFault[];

/** Skips the rules, for callers that need only an address or a path of the configuration and check no command. */
export const skipRuleTests: RuleValidator = () => [];

/**
 * Reads and validates a configuration.
 * @param proveRule validates each rule. It is a parameter because the command parser is slow to load:
 * `loadConfiguration` passes it.
 * @throws {ConfigurationError} with all problems
 */
export const readConfiguration = (request: ConfigurationRequest, proveRule: RuleValidator): Configuration =>
  readSettings(request, proveRule).configuration;

/**
 * Reads and validates a configuration; also lists the source of each value.
 * @throws {ConfigurationError} with all problems
 */
export function readSettings(
  request: ConfigurationRequest,
  proveRule: RuleValidator,
): { readonly configuration: Configuration; readonly listSettings: () => readonly EffectiveSetting[] } {
  const settings = listSettings();
  const { origin, problems } = readSources(request, settings);
  const { layers, file } = origin;
  const tree = mergeLayers(layers, settings);
  const parsed = configurationSchema.safeParse(tree, INTERPRETED);
  const explained = (parsed.error?.issues ?? []).flatMap((issue) => explainIssue(issue, tree, settings));
  addNew(
    problems,
    explained.map(({ path, part, message }) => placeProblem(origin, path, part, message)),
  );
  if (parsed.data) problems.push(...ruleProblems(origin, parsed.data.confirmation.rules, proveRule));
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(problems.sort(comparePlaces));
  const { env, cwd } = request;
  const base = baseDirectoryOf(request, file);
  const baseOf = (path: readonly string[]) => (layerOf(layers, path).kind === 'file' ? base : cwd);
  const settled = settle(parsed.data, settings, { env, cwd, baseOf });
  const configuration = toConfiguration(settled, { file, env, isGiven: (path) => isGiven(layers, path) });
  const { secrets } = configuration;
  return { configuration, listSettings: () => effectiveSettings(settled, secrets, layers, settings) };
}

/** Reads the file, the environment and the flags, with the problems in their texts. */
function readSources(
  { file: givenFile, text, env, cwd, overrides }: ConfigurationRequest,
  settings: readonly Setting[],
): { readonly origin: Origin; readonly problems: ConfigurationProblem[] } {
  const file = givenFile === undefined ? undefined : resolve(cwd, givenFile);
  const yaml = file === undefined ? EMPTY_YAML_FILE : readYamlFile(text ?? readText(file), env, settings);
  const environment = readEnvironmentVariables(env, settings);
  const problems = [
    ...yaml.problems.map(({ path, message, position }) => inFile(file, formatPath(path), message, position)),
    ...environment.problems.map(({ name, message }) => elsewhere(`environment variable ${name}`, '', message)),
  ];
  const layers = { yaml, environment: environment.overrides, flags: overrides ?? {} };
  return { origin: { layers, file }, problems };
}

/** Adds problems, but only one for each path. */
function addNew(problems: ConfigurationProblem[], added: readonly ConfigurationProblem[]): void {
  for (const problem of added) {
    const isKnown = problem.path !== '' && problems.some(({ path }) => path === problem.path);
    if (!isKnown) problems.push(problem);
  }
}

function ruleProblems(
  origin: Origin,
  rules: readonly TestedRule[],
  proveRule: RuleValidator,
): readonly ConfigurationProblem[] {
  return rules.flatMap((rule, index) =>
    proveRule(rule).map(({ path, message }) =>
      placeProblem(origin, ['confirmation', 'rules', index, ...path], 'value', message),
    ),
  );
}

/** Base of relative paths in the file. */
function baseDirectoryOf({ baseDirectory, cwd }: ConfigurationRequest, file: string | undefined): string {
  return baseDirectory ?? (file === undefined ? cwd : projectDirectory(file));
}

function readYamlFile(content: string, env: NodeJS.ProcessEnv, settings: readonly Setting[]): YamlFile {
  return parseYamlFile(content, (text, path) => {
    if (!hasVariables(text)) return { value: text };
    const expansion = expandVariables(text, env);
    if ('problem' in expansion) return expansion;
    const isWhole = text.startsWith('${') && text.endsWith('}');
    return { value: isWhole && !takesText(settings, path) ? readValue(expansion.text) : expansion.text };
  });
}

function readText(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (cause) {
    // The file is missing, unreadable, a directory, or not UTF-8; the system's message contains the reason.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigurationError([elsewhere(file, '', `cannot be read: ${reason}`)], { cause });
  }
}

function projectDirectory(file: string): string {
  const folder = dirname(file);
  return basename(folder) === 'config' ? dirname(folder) : folder;
}

interface Origin {
  readonly layers: ConfigurationLayers;
  readonly file: string | undefined;
}

function placeProblem(
  { layers, file }: Origin,
  path: readonly PropertyKey[],
  part: 'key' | 'value',
  message: string,
): ConfigurationProblem {
  const layer = layerOf(layers, path);
  if (layer.kind === 'flags') return elsewhere('command line', formatPath(path), message);
  if (layer.kind === 'environment') return elsewhere(`environment variable ${layer.name}`, formatPath(path), message);
  return inFile(file, formatPath(path), message, layers.yaml.locate(path, part));
}

/** Sorts by position in the file; problems of other sources come last. */
function comparePlaces(a: ConfigurationProblem, b: ConfigurationProblem): number {
  if (a.line === undefined || b.line === undefined) return Number(a.line === undefined) - Number(b.line === undefined);
  return a.line - b.line || (a.column ?? 0) - (b.column ?? 0);
}

function elsewhere(source: string, path: string, message: string): ConfigurationProblem {
  return { file: source, line: undefined, column: undefined, path, message };
}

function inFile(
  file: string | undefined,
  path: string,
  message: string,
  position: { readonly line: number; readonly column: number } | undefined,
): ConfigurationProblem {
  return { file: file ?? 'configuration', line: position?.line, column: position?.column, path, message };
}
