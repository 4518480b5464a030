import { dirname, resolve } from 'node:path';

import { z } from 'zod';

import {
  ACCESS_MODES,
  accessProblem,
  AGENT_FILE_MODES,
  DRIVER_NAMES,
  type LlmSettings,
  type ModelRegistry,
  type ModelSettings,
  NORMALIZERS,
} from '../../core/llm/settings.js';
import { findRuleFaults } from '../../core/policy/rules.js';
import { oneOf, secondsToMs, time } from '../fields.js';
import type { Configuration } from '../model/configuration.js';
import { ConfigurationError, type ConfigurationProblem } from '../model/problems.js';
import { type ConfigurationRequest, readConfiguration } from './read.js';
import { parseYamlFile, readText, type YamlFile } from './yaml-file.js';

const DEFAULT_AGENT_FILE = 'AGENTS.md';

const text = (what: string) => z.string({ error: `must be ${what}` }).min(1, { error: `must be ${what}` });
const flag = z.boolean({ error: 'must be true or false' });

type ShellProviders = LlmSettings['shellProviders'];

/** One model, with the keys of the file. */
const writtenModel = z.strictObject(
  {
    driver: text('the name of a shell provider'),
    repoPath: text('a path'),
    agentFile: text('a path').default(DEFAULT_AGENT_FILE),
    agentFileMode: oneOf(AGENT_FILE_MODES).default('prepend'),
    worktree: flag.default(false),
    model: text('the name of a model').optional(),
    timeout: time('seconds').optional(),
    normalizer: oneOf(NORMALIZERS).default('auto'),
    access: oneOf(ACCESS_MODES).optional(),
  },
  { error: 'must be an object with driver and repoPath' },
);

const modelsSchema = z.record(z.string().min(1), writtenModel, { error: 'must be an object of models by their names' });

/**
 * Returns the configuration with the models of its models file, if any.
 * @throws {ConfigurationError} with all problems of the file
 */
function withModels(configuration: Configuration, env: NodeJS.ProcessEnv): Configuration {
  const { llm } = configuration;
  if (llm.modelsFile === undefined) return configuration;
  return { ...configuration, llm: { ...llm, models: readModels(llm.modelsFile, llm.shellProviders, env) } };
}

/** JSON is a subset of YAML, so that problems have line numbers here too. */
function readModels(file: string, providers: ShellProviders, env: NodeJS.ProcessEnv): ModelRegistry {
  const yaml = parseYamlFile(file, readText(file, 'llm.models_file'), { env, read: (text) => text });
  const parsed = modelsSchema.safeParse(yaml.tree);
  const problems = [
    ...yaml.problems,
    ...(parsed.error?.issues ?? []).flatMap((issue) => schemaProblems(yaml, issue)),
    ...Object.entries(parsed.data ?? {}).flatMap(([name, model]) => driverProblems(yaml, name, model, providers)),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigurationError(problems);
  const base = dirname(file);
  return Object.fromEntries(Object.entries(parsed.data).map(([name, model]) => [name, toSettings(model, base)]));
}

type WrittenModel = z.output<typeof writtenModel>;

function toSettings({ repoPath, timeout, ...rest }: WrittenModel, base: string): ModelSettings {
  return {
    ...rest,
    repoPath: resolve(base, repoPath),
    timeoutMs: timeout === undefined ? undefined : secondsToMs(timeout),
  };
}

function schemaProblems(yaml: YamlFile, issue: z.core.$ZodIssue): readonly ConfigurationProblem[] {
  if (issue.code !== 'unrecognized_keys') return [yaml.problemAt(issue.path, 'value', issue.message)];
  const message = `there is no such key; there are ${Object.keys(writtenModel.shape).join(', ')}`;
  return issue.keys.map((key) => yaml.problemAt([...issue.path, key], 'key', message));
}

function driverProblems(
  yaml: YamlFile,
  name: string,
  model: WrittenModel,
  providers: ShellProviders,
): readonly ConfigurationProblem[] {
  const problem = driverProblem(model, providers);
  return problem ? [yaml.problemAt([name, problem.key], 'value', problem.message)] : [];
}

/** Reports a mismatch between a model and its shell provider. */
function driverProblem(
  { driver, access }: WrittenModel,
  providers: ShellProviders,
): { readonly key: 'driver' | 'access'; readonly message: string } | undefined {
  const names = [...new Set([...Object.keys(providers), ...DRIVER_NAMES])];
  if (!names.includes(driver)) {
    const message = `there is no shell provider ${JSON.stringify(driver)}; there are ${names.join(', ')}`;
    return { key: 'driver', message };
  }
  const settings = Object.hasOwn(providers, driver) ? providers[driver] : undefined;
  const message = access && accessProblem(driver, settings, access);
  return message === undefined ? undefined : { key: 'access', message };
}

/**
 * Loads and validates a configuration, and runs the tests that the rules of the policy contain. It only reads files, so
 * it can be called again at any time to reload.
 * @throws {ConfigurationError} with all problems
 */
export function loadConfiguration(request: ConfigurationRequest): Configuration {
  return withModels(readConfiguration(request, findRuleFaults), request.env);
}
