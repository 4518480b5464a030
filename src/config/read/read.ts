import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { RuleFault, TestedRule } from '../../core/policy/decision/rule-tests.js';
import { type Configuration, toConfiguration } from '../model/configuration.js';
import { readEnvironmentVariables } from './environment-variables.js';
import { expandVariables, hasVariables } from './expand.js';
import { explainIssue } from './explain.js';
import { effectiveSettings, type EffectiveSetting } from './effective-settings.js';
import { type ConfigurationLayers, isGiven, layerOf, mergeLayers } from './layers.js';
import { ConfigurationError, type ConfigurationProblem, formatPath } from '../model/problems.js';
import { type ConfigurationInput, configurationSchema } from '../model/schema.js';
import { listSettings, type Setting, takesText } from '../model/settings.js';
import { settle } from '../model/settle.js';
import { readValue } from './values.js';
import { EMPTY_YAML_FILE, parseYamlFile, type YamlFile } from './yaml-file.js';

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
