import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

import { LIMIT_KEYS, LIMIT_NAMES, type Limits } from '../../core/limits.js';
import type { ModelRegistry } from '../../core/llm/settings.js';
import type { PolicyFacts } from '../../core/policy/model.js';
import { Secret } from '../../core/secret.js';
import { isNamedBy, Variables } from '../../core/variables.js';
import { splitClasses } from '../sections/confirmation.js';
import { isMaskable } from '../sections/access.js';
import { MIN_SIGNING_CHARACTERS, type notifySection } from '../sections/records.js';
import { isLoopback } from '../sections/socketio.js';
import { configurationError } from './problems.js';
import { type CheckedConfiguration, configurationSchema } from './schema.js';
import { type CodeValue, toCode } from './settings.js';

/** Variables of the daemon's environment that shells inherit by default; a trailing `*` matches any suffix. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_*', 'TZ', 'SHELL', 'TMPDIR', 'XDG_RUNTIME_DIR'] as const;

/** PATH of the shells when the daemon was started without one. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** UTF-8 locale without a language. glibc provides it since 2.35; Debian provided it before. */
const UTF8_LOCALE = 'C.UTF-8';

/** The shells have no interactive user: a pager must not wait for a key, nor a program for an answer. */
const AGENT_VARIABLES = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // `git status` does not write the index, and so runs no hook for that.
  GIT_OPTIONAL_LOCKS: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  TERM: 'dumb',
} as const;

/**
 * Settings of git that come before those of repositories: what lies in a checkout must not run only because git looks at
 * it. Source: git-config(1), core.fsmonitor and safe.bareRepository.
 */
const GIT_SETTINGS = { 'core.fsmonitor': 'false', 'safe.bareRepository': 'explicit' } as const;

/** The keys of `adapter.environment` in the configuration. */
interface EnvironmentRules {
  /** Additional names to inherit; a name may end in `*`. */
  readonly pass: readonly string[];
  /** Variables with their values, which override all others. */
  readonly set: Readonly<Record<string, string>>;
}

/**
 * Builds the environment of every shell. It inherits a short list of the daemon's variables and the names in `pass`, so
 * that the daemon's secrets are not exposed. It always contains a PATH and a UTF-8 locale.
 */
export function buildChildEnvironment(env: NodeJS.ProcessEnv, rules: EnvironmentRules): Record<string, string> {
  const patterns = [...PASSED, ...rules.pass];
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !isOwn(name) && patterns.some((pattern) => isNamedBy(pattern, name)))
      passed[name] = value;
  }
  if (!passed['PATH']) passed['PATH'] = DEFAULT_PATH;
  return withGitSettings({ ...withUtf8Locale(passed), ...AGENT_VARIABLES, ...rules.set });
}

/** Adds the settings of git to those that the environment gives already. */
function withGitSettings(env: Readonly<Record<string, string>>): Record<string, string> {
  const given = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  const settings = Object.entries(GIT_SETTINGS).flatMap(([key, value], index): [string, string][] => [
    [`GIT_CONFIG_KEY_${given + index}`, key],
    [`GIT_CONFIG_VALUE_${given + index}`, value],
  ]);
  const count = String(given + Object.keys(GIT_SETTINGS).length);
  return { ...env, ...Object.fromEntries<string>(settings), GIT_CONFIG_COUNT: count };
}

/** The daemon's own settings and its clients' tokens, which are never inherited through a pattern. */
const isOwn = (name: string): boolean => name.startsWith('SHELL_ADAPTER_');

/** LC_ALL and LC_CTYPE override LANG: values that are not UTF-8 are removed. */
function withUtf8Locale(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => {
    return (name !== 'LC_ALL' && name !== 'LC_CTYPE') || isUtf8(value);
  });
  return { ...Object.fromEntries(kept), LANG: isUtf8(env['LANG'] ?? '') ? (env['LANG'] ?? '') : UTF8_LOCALE };
}

function isUtf8(locale: string): boolean {
  return /\.utf-?8(?:@|$)/i.test(locale);
}

export const homeOf = (env: NodeJS.ProcessEnv): string => env['HOME'] || homedir();

/** Base directories, each with its variable and its default below the home directory. */
const BASES = {
  state: { variable: 'XDG_STATE_HOME', fallback: '.local/state' },
  config: { variable: 'XDG_CONFIG_HOME', fallback: '.config' },
} as const;

/**
 * Returns a base directory of the user. A relative path in its variable is ignored.
 * Source: https://specifications.freedesktop.org/basedir-spec/latest/
 */
export function userDirectory(kind: keyof typeof BASES, env: NodeJS.ProcessEnv): string {
  const { variable, fallback } = BASES[kind];
  const given = env[variable] ?? '';
  return isAbsolute(given) ? given : join(homeOf(env), fallback);
}

/** The user's own configuration, which need not exist. */
export const userConfigurationFile = (env: NodeJS.ProcessEnv): string =>
  join(userDirectory('config', env), 'shell-adapter', 'config.yaml');

/**
 * The list of trusted configuration files. It is in the default state directory: `adapter.state_directory` is a setting of
 * the files that it is about.
 */
export const trustListOf = (env: NodeJS.ProcessEnv): string =>
  join(userDirectory('state', env), 'shell-adapter', 'trusted-configurations.json');

/**
 * The key of a webhook's signatures.
 * @throws ConfigurationError when its file cannot be read, or is too short
 */
function signingSecret(
  { secret, secretFile }: CodeValue<typeof notifySection>['webhooks'][number],
  index: number,
): Secret | undefined {
  if (secretFile === undefined) return secret;
  const path = `notify.webhooks[${index}].secret_file`;
  const content = readSecretFile(secretFile, path).trim();
  if (content.length >= MIN_SIGNING_CHARACTERS) return new Secret(content);
  throw configurationError(path, `${secretFile} has to have ${MIN_SIGNING_CHARACTERS} characters or more`);
}

/**
 * Reads the secrets of a configuration, whose paths are absolute.
 * @throws ConfigurationError when a secret cannot be read, or is too short to be distinguished from other words; the
 * message does not contain the secret
 */
function readSecrets(
  { values, environment, files }: CheckedConfiguration['secrets'],
  env: NodeJS.ProcessEnv,
): readonly string[] {
  const fromEnvironment = environment.flatMap((name, index) => {
    const value = env[name] ?? '';
    if (value === '') return [];
    return [checked(value, `secrets.environment[${index}]`, `the value of ${name}`)];
  });
  const fromFiles = files.map((file, index) => {
    const path = `secrets.files[${index}]`;
    return checked(readSecretFile(file, path), path, file);
  });
  return [...values, ...fromEnvironment, ...fromFiles];
}

function checked(secret: string, path: string, what: string): string {
  if (isMaskable(secret)) return secret;
  throw configurationError(path, `${what} has no line that is long enough to be masked: 8 characters or more`);
}

function readSecretFile(file: string, path: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw configurationError(path, `cannot be read: ${(cause as Error).message}`);
  }
}

/**
 * Converts settled values to a configuration: those of the schema with the names and units of the code, and the values
 * that follow from several of them or from the environment.
 * @param isGiven returns whether a key has a value other than its default
 * @throws {ConfigurationError} when a secret cannot be read
 */
export function toConfiguration(
  settled: CheckedConfiguration,
  file: string | undefined,
  env: NodeJS.ProcessEnv,
  isGiven: (path: readonly string[]) => boolean,
) {
  const { adapter, socketio, confirmation, llm, audit, notify, ...rest } = toCode(configurationSchema, settled);
  const resourceLimits = limitsOf(settled.adapter);
  const webhooks = notify.webhooks.map(({ secretFile, ...webhook }, index) => ({
    ...webhook,
    secret: signingSecret({ ...webhook, secretFile }, index),
  }));
  return {
    ...rest,
    /** Path of the configuration file; undefined without one. */
    file,
    /** Files that decide which configuration the user's next call has; they need not exist. */
    choiceFiles: [userConfigurationFile(env), trustListOf(env)],
    /** With the limits of everything together that a session, or a command without one, runs. */
    adapter: { ...adapter, resourceLimits },
    /** With whether the host is reachable from this machine only; `tls` is undefined for plain HTTP. */
    socketio: { ...socketio, isLoopback: isLoopback(socketio.host), tls: bothOf(socketio.tls) },
    /** With the action for each class, and the modes of the classes that override `mode`. */
    confirmation: { ...confirmation, ...splitClasses(confirmation.classes) },
    /** With the limits of a run, the content of the models file, and the environment, of which tools get their part. */
    llm: {
      ...llm,
      limits: { ...resourceLimits, ...limitsOf(settled.llm) },
      models: undefined as ModelRegistry | undefined,
      variables: new Variables(env),
    },
    /** With whether the configuration names the file: no other file is used then. */
    audit: { ...audit, isFileChosen: isGiven(['audit', 'file']) },
    /** With the secrets that are in files. */
    notify: { webhooks },
    /** Texts that are masked in all output and records. Never print them. */
    secrets: [
      ...readSecrets(settled.secrets, env),
      ...webhooks.flatMap(({ secret }) => (secret ? [secret.reveal()] : [])),
    ],
    /** Environment of every shell; nothing else of the daemon's environment is inherited. */
    childEnvironment: buildChildEnvironment(env, settled.adapter.environment),
    /** Where the daemon itself finds programs. */
    searchPath: env['PATH'] ?? '',
  };
}

/**
 * The whole configuration: validated, with defaults, absolute paths, and the names and units of the code (see
 * `codeName`). What a key means is said in its section.
 */
export type Configuration = Readonly<ReturnType<typeof toConfiguration>> & {
  /** That of the daemon for which this process holds sessions; undefined for any other daemon. */
  readonly daemon?: Configuration | undefined;
};

/** The configurations whose files no command may reach: that of this process, and that of its daemon. */
export const withDaemon = (configuration: Configuration): readonly Configuration[] =>
  configuration.daemon ? [configuration, configuration.daemon] : [configuration];

export type LoggingConfiguration = Configuration['logging'];

/** A level name of Python's logging. */
export type LogLevel = LoggingConfiguration['loggingLevel'];

/** Settings of the port and the Unix socket, and the clients that may connect. */
export type SocketioConfiguration = Configuration['socketio'];

const bothOf = ({ cert, key }: { readonly cert: string | undefined; readonly key: string | undefined }) =>
  cert === undefined || key === undefined ? undefined : { cert, key };

function limitsOf(section: CheckedConfiguration['adapter' | 'llm']): Limits {
  const given = LIMIT_NAMES.map((name) => [name, section[LIMIT_KEYS[name]]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/**
 * Files that control the gate or that the daemon needs. Its state contains tokens, and the runtime directories those
 * texts of commands, of all owners, that do not fit into a request.
 */
export function ownPaths(
  configuration: Configuration,
  ...runtimeParents: readonly string[]
): Pick<PolicyFacts, 'protectedPaths' | 'secretPaths'> {
  const { adapter, recording, cluster } = configuration;
  const { stateDirectory } = adapter;
  const written = withDaemon(configuration).flatMap(({ file, choiceFiles, logging, audit }) => [
    ...(file === undefined ? [] : [file]),
    ...choiceFiles,
    logging.logFilePath,
    audit.file,
  ]);
  const keys = [cluster.tls.key, cluster.secretFile].filter((path) => path !== undefined);
  return {
    protectedPaths: [stateDirectory, recording.directory, ...runtimeParents, ...written],
    secretPaths: [stateDirectory, recording.directory, ...runtimeParents, ...keys],
  };
}
