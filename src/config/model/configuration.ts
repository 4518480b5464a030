import { LIMIT_KEYS, LIMIT_NAMES, type Limits } from '../../core/limits/limits.js';
import type { ModelRegistry } from '../../core/llm/models.js';
import { Variables } from '../../core/variables.js';
import { splitClasses } from '../sections/confirmation.js';
import { isLoopback } from '../sections/socketio.js';
import { buildChildEnvironment } from './child-environment.js';
import { toCode } from './code-values.js';
import { type CheckedConfiguration, configurationSchema } from './schema.js';
import { trustListOf, userConfigurationFile } from './user-directories.js';
import { toWebhooks } from './webhooks.js';
import { readSecrets } from './secrets.js';

/** Inputs of `toConfiguration` besides the settled values. */
export interface ConfigurationContext {
  /** Path of the configuration file; undefined without one. */
  readonly file: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Returns whether a key has a value other than its default. */
  readonly isGiven: (path: readonly string[]) => boolean;
}

/**
 * Converts settled values to a configuration: those of the schema with the names and units of the code, and the values
 * that follow from several of them or from the environment.
 * @throws {ConfigurationError} when a secret cannot be read
 */
export function toConfiguration(settled: CheckedConfiguration, { file, env, isGiven }: ConfigurationContext) {
  const { adapter, socketio, confirmation, llm, audit, ...rest } = toCode(configurationSchema, settled);
  const resourceLimits = limitsOf(settled.adapter);
  const webhooks = toWebhooks(settled.notify);
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
    /** With the names and units of the code. */
    notify: { webhooks },
    /** Texts that are masked in all output and records. Never print them. */
    secrets: [
      ...readSecrets(settled.secrets, env),
      ...webhooks.flatMap(({ secret }) => (secret ? [secret.reveal()] : [])),
    ],
    /** Environment of every shell; nothing else of the daemon's environment is inherited. */
    childEnvironment: buildChildEnvironment(env, settled.adapter.environment),
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

/** Settings of the log. */
export type LoggingConfiguration = Configuration['logging'];

/** A level name of Python's logging. */
export type LogLevel = LoggingConfiguration['loggingLevel'];

/** Settings of the port and the Unix socket, and the clients that may connect. */
export type SocketioConfiguration = Configuration['socketio'];

/** Isolation of commands from the machine. */
export type SandboxConfiguration = Configuration['sandbox'];

const bothOf = ({ cert, key }: { readonly cert: string | undefined; readonly key: string | undefined }) =>
  cert === undefined || key === undefined ? undefined : { cert, key };

function limitsOf(section: CheckedConfiguration['adapter' | 'llm']): Limits {
  const given = LIMIT_NAMES.map((name) => [name, section[LIMIT_KEYS[name]]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
