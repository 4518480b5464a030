import { basename, dirname, join, resolve } from 'node:path';

import type { z } from 'zod';

import { findNearest } from '../../core/nearest.js';
import type { RuleFault, TestedRule } from '../../core/policy/rules.js';
import { MASK, SecretMask } from '../../core/secrets.js';
import type { PathDefault } from '../fields.js';
import { type Configuration, homeOf, toConfiguration, userDirectory } from '../model/configuration.js';
import { isMapping, type JsonObject, valueAt, withValueAt } from '../../core/json.js';
import { ConfigurationError, type ConfigurationProblem, formatPath, problemIn } from '../model/problems.js';
import { type CheckedConfiguration, type ConfigurationInput, configurationSchema } from '../model/schema.js';
import { configurationSettings, inside, kindAt, type Setting, settingAt, valuesIn } from '../model/settings.js';
import {
  describeValue,
  type Override,
  placeOf,
  quote,
  readAs,
  readEnvironmentVariables,
  readValue,
} from './environment-variables.js';
import { parseYamlFile, readText, type YamlFile } from './yaml-file.js';

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
  sources: Sources,
): readonly EffectiveSetting[] {
  const mask = new SecretMask(secrets);
  return sources.settings.map((setting) => {
    const value = valueAt(settled, setting.path);
    return {
      path: setting.path,
      value: mask.value(hideSecrets(value, setting)),
      source: sourceOf(sources, setting, value),
    };
  });
}

/** Masks keys of services, whether or not they are listed as secrets, and the variables of tools, which may be keys. */
function hideSecrets(value: unknown, { isSecret, entry }: Setting): unknown {
  if (isSecret === true) return hideAll(value);
  const hidden = (entry ? valuesIn(entry) : []).filter((key) => key.isSecret === true);
  if (hidden.length === 0) return value;
  const hideIn = (inner: unknown) =>
    hidden.reduce((shown, { path }) => withValueAt(shown, path, hideAll(valueAt(shown, path))), inner);
  if (Array.isArray(value)) return value.map(hideIn);
  return isMapping(value) ? mapValues(value, hideIn) : value;
}

function hideAll(value: unknown): unknown {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.map(() => MASK);
  return isMapping(value) ? mapValues(value, () => MASK) : MASK;
}

const mapValues = (mapping: JsonObject, change: (value: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(mapping).map(([key, value]) => [key, change(value)]));

function sourceOf(sources: Sources, { path, variable }: Setting, value: unknown): string {
  const override = overrideOf(sources, path);
  if (override) return override.name ?? 'command line';
  if (!isGiven(sources, path)) return value === undefined ? 'default' : (variable ?? 'default');
  const position = sources.yaml.locate(path, 'key');
  return position ? `line ${position.line}` : 'the file';
}

interface SchemaProblem {
  readonly path: readonly PropertyKey[];
  /** The part of the path with the problem. */
  readonly part: 'key' | 'value';
  readonly message: string;
}

/** Describes a problem in `tree` for people: the value found, and the accepted ones. */
function explainIssue(issue: z.core.$ZodIssue, tree: unknown, configuration: Setting): readonly SchemaProblem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      return { path: [...path, key], part: 'key', message: explainUnknownKey(path, key, { configuration, tree }) };
    });
  }
  if (issue.code === 'invalid_key') {
    return [{ path, part: 'key', message: issue.issues[0]?.message ?? issue.message }];
  }
  const isSection = settingAt(configuration, path)?.kind === 'group';
  const sentence = isSection ? 'must be a mapping of keys to values' : issue.message;
  const found = sentence.startsWith('must be') ? explainFound(valueAt(tree, path), sentence) : '';
  return [{ path, part: 'value', message: sentence + found }];
}

function explainFound(value: unknown, sentence: string): string {
  if (value === null) return '; there is nothing, leave the key out for its default';
  const isQuoted = typeof value === 'string' && sentence.includes('number') && typeof readValue(value) === 'number';
  return `; got ${describeValue(value)}${isQuoted ? ', write it without quotes' : ''}`;
}

function explainUnknownKey(
  section: readonly PropertyKey[],
  key: string,
  { configuration, tree }: { readonly configuration: Setting; readonly tree: unknown },
): string {
  const inner = section.length === 0 ? sectionsIn(valueAt(tree, [key]), configuration) : [];
  if (inner.length > 0) {
    const sections = inner.map(quote).join(', ');
    return `unknown key; ${sections} in it ${inner.length === 1 ? 'belongs' : 'belong'} to the top level of the file: remove this line, and the indentation below it`;
  }
  const keys = settingAt(configuration, section)?.keys.map(({ path }) => path.at(-1) ?? '') ?? [];
  const nearest = findNearest(key, keys);
  if (nearest !== undefined) return `unknown key; did you mean ${quote(nearest)}?`;
  const elsewhere = valuesIn(configuration).find(({ path }) => path.at(-1) === key);
  if (elsewhere) return `unknown key; did you mean ${quote(formatPath(elsewhere.path))}?`;
  const place = section.length === 0 ? 'The sections are' : `The keys of ${formatPath(section)} are`;
  return `unknown key. ${place} ${keys.join(', ')}`;
}

/** Names of the keys of a value that are sections of the configuration. */
const sectionsIn = (value: unknown, configuration: Setting): string[] =>
  isMapping(value) ? Object.keys(value).filter((key) => inside(configuration, key)) : [];

interface Sources {
  /** Keys that hold a value. */
  readonly settings: readonly Setting[];
  readonly yaml: YamlFile;
  /** Later ones come before earlier ones. */
  readonly overrides: readonly Override[];
}

/** The override that provides the value at this path, if any. */
const overrideOf = ({ overrides }: Sources, path: readonly PropertyKey[]): Override | undefined =>
  overrides.findLast((override) => override.path.every((step, index) => path[index] === step));

/** Whether there is a value at this path other than the default. */
const isGiven = (sources: Sources, path: readonly PropertyKey[]): boolean =>
  overrideOf(sources, path) !== undefined || valueAt(sources.yaml.tree, path) !== undefined;

function problemAt(
  sources: Sources,
  path: readonly PropertyKey[],
  part: 'key' | 'value',
  message: string,
): ConfigurationProblem {
  const override = overrideOf(sources, path);
  if (override) return problemIn(placeOf(override.name), path, message);
  return sources.yaml.problemAt(path, part, message);
}

/** Merges all sources into one tree: overrides replace a value as a whole. */
const treeOf = ({ yaml, overrides }: Sources, configuration: Setting): unknown =>
  overrides.reduce<unknown>(
    (tree, { path, value }) => withValueAt(tree, path, value),
    withSections(yaml.tree, configuration),
  );

/** A section without keys (all of them are commented out) is an empty section, not an invalid value. */
function withSections(value: unknown, setting: Setting | undefined): unknown {
  if (setting?.kind !== 'group') return value;
  if (value === null) return {};
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withSections(inner, inside(setting, key))]),
  );
}

const flagsOf = (flags: ConfigurationInput | undefined, settings: readonly Setting[]): readonly Override[] =>
  settings
    .map(({ path }) => ({ path, value: valueAt(flags, path), name: undefined }))
    .filter(({ value }) => value !== undefined);

/** The base directory of relative paths in a key. */
type BaseOf = (path: readonly string[]) => string;

/**
 * Fills in the values that depend on the surroundings of the daemon: paths become absolute, and values that environment
 * variables provide are added. The names and units stay those of the file.
 */
function settle(
  checked: CheckedConfiguration,
  settings: readonly Setting[],
  request: ConfigurationRequest,
  baseOf: BaseOf,
): CheckedConfiguration {
  // In the order of the keys: `adapter.state_directory` comes before the paths in it.
  return settings.reduce((settled, setting) => {
    const given = valueAt(settled, setting.path);
    const value =
      given === undefined
        ? missing(settled, setting, request)
        : absolute(given, setting, baseOf(setting.path), request.env);
    return value === given ? settled : withValueAt(settled, setting.path, value);
  }, checked);
}

function missing(
  settled: CheckedConfiguration,
  { variable, location }: Setting,
  { env, cwd }: ConfigurationRequest,
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

function absolute(value: unknown, { location }: Setting, base: string, env: NodeJS.ProcessEnv): unknown {
  if (location === undefined) return value;
  if (Array.isArray(value)) return value.map((entry) => resolvePath(String(entry), base, env));
  const text = String(value);
  return location.if?.(text) === false ? text : resolvePath(text, base, env);
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
  const { env, cwd, baseDirectory, overrides: flags } = request;
  const described = configurationSettings();
  const settings = valuesIn(described);
  const file = request.file === undefined ? undefined : resolve(cwd, request.file);
  const yaml = parseYamlFile(file ?? 'configuration', file === undefined ? '' : (request.text ?? readText(file)), {
    env,
    read: (text, path) => readAs(kindAt(described, path), text),
  });
  const environment = readEnvironmentVariables(env, settings);
  const sources = { settings, yaml, overrides: [...environment.overrides, ...flagsOf(flags, settings)] };
  const tree = treeOf(sources, described);
  const parsed = configurationSchema.safeParse(tree, INTERPRETED);
  const explained = (parsed.error?.issues ?? []).flatMap((issue) => explainIssue(issue, tree, described));
  const problems = [...yaml.problems, ...environment.problems];
  addNew(
    problems,
    explained.map(({ path, part, message }) => problemAt(sources, path, part, message)),
  );
  if (parsed.data) problems.push(...ruleProblems(sources, parsed.data.confirmation.rules, proveRule));
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(problems.sort(comparePlaces));
  const base = baseDirectory ?? (file === undefined ? cwd : projectDirectory(file));
  const settled = settle(parsed.data, settings, request, (path) => (overrideOf(sources, path) ? cwd : base));
  const configuration = toConfiguration(settled, file, env, (path) => isGiven(sources, path));
  return { configuration, listSettings: () => effectiveSettings(settled, configuration.secrets, sources) };
}

/** Adds problems, but only one for each path. */
function addNew(problems: ConfigurationProblem[], added: readonly ConfigurationProblem[]): void {
  for (const problem of added) {
    const isKnown = problem.path !== '' && problems.some(({ path }) => path === problem.path);
    if (!isKnown) problems.push(problem);
  }
}

const ruleProblems = (
  sources: Sources,
  rules: readonly TestedRule[],
  proveRule: RuleValidator,
): readonly ConfigurationProblem[] =>
  rules.flatMap((rule, index) =>
    proveRule(rule).map(({ path, message }) =>
      problemAt(sources, ['confirmation', 'rules', index, ...path], 'value', message),
    ),
  );

function projectDirectory(file: string): string {
  const folder = dirname(file);
  return basename(folder) === 'config' ? dirname(folder) : folder;
}

/** Sorts by position in the file; problems of other sources come last. */
function comparePlaces(a: ConfigurationProblem, b: ConfigurationProblem): number {
  if (a.line === undefined || b.line === undefined) return Number(a.line === undefined) - Number(b.line === undefined);
  return a.line - b.line || (a.column ?? 0) - (b.column ?? 0);
}
