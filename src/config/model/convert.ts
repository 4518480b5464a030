import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { LIMIT_KEYS, LIMIT_NAMES, type Limits } from '../../core/limits/limits.js';
import type { ConfirmationMode } from '../../core/confirmation/modes.js';
import { COMMAND_CLASSES, type CommandClass } from '../../core/policy/model/classes.js';
import { PRESETS } from '../../core/policy/decision/presets.js';
import { Secret } from '../../core/secret.js';
import { buildChildEnvironment } from './child-environment.js';
import type {
  AdapterConfiguration,
  CheckpointsConfiguration,
  Configuration,
  ConfirmationConfiguration,
  LoggingConfiguration,
  SocketioConfiguration,
} from './configuration.js';
import { toLlm } from './convert-llm.js';
import { UNIT_MS } from '../sections/fields.js';
import { chooseOutputSizes } from '../sections/output-sizes.js';
import { readSecrets } from './secrets.js';
import type { CheckedConfiguration } from './schema.js';
import { isLoopback } from '../sections/socketio.js';
import { modeOf } from '../sections/confirmation.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Inputs of the conversion besides the file. */
export interface ConversionContext {
  readonly file: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** The daemon's current directory. */
  readonly cwd: string;
  /** Base directory of a relative path in this key. */
  baseOf(path: readonly string[]): string;
}

/** Converts the sections, units and paths of the file to those of the code. No other module does. */
export function toConfiguration(checked: CheckedConfiguration, context: ConversionContext): Configuration {
  const adapter = toAdapter(checked.adapter, context);
  return {
    file: context.file,
    adapter,
    checkpoints: toCheckpoints(checked.checkpoints),
    logging: toLogging(checked.logging, adapter.stateDirectory, context),
    socketio: toSocketio(checked.socketio, context),
    auth: {
      mode: checked.auth.mode,
      requestsPerSecond: checked.auth.requests_per_second,
      maxSessionsPerToken: checked.auth.max_sessions_per_token,
    },
    confirmation: toConfirmation(checked.confirmation),
    sandbox: {
      profile: checked.sandbox.profile,
      isRequired: checked.sandbox.require,
      network: checked.sandbox.network,
      protectedPaths: checked.sandbox.protected_paths,
    },
    llm: toLlm(checked.llm, context.env, {
      ...llmPaths(checked, context),
      limits: { ...adapter.resourceLimits, ...toResourceLimits(checked.llm) },
    }),
    audit: toAudit(checked.audit, adapter.stateDirectory, context),
    secrets: readSecrets(checked.secrets, context.env, (path, index) =>
      resolvePath(path, context.baseOf(['secrets', 'files', String(index)]), context.env),
    ),
    http: checked.http,
    childEnvironment: buildChildEnvironment(context.env, checked.adapter.environment),
  };
}

function toAdapter(adapter: CheckedConfiguration['adapter'], context: ConversionContext): AdapterConfiguration {
  const { env, cwd } = context;
  const sizes = chooseOutputSizes(adapter.max_output_size, adapter.begin_output_size, adapter.end_output_size);
  const pathOf = (key: 'workspace_directory' | 'state_directory' | 'shell', fallback: string): string =>
    resolvePath(adapter[key] ?? fallback, context.baseOf(['adapter', key]), env);
  return {
    adapterType: adapter.adapter_type,
    workspaceDirectory: pathOf('workspace_directory', cwd),
    shell: adapter.shell.includes('/') ? pathOf('shell', '') : adapter.shell,
    connectionCheckIntervalMs: toMs(adapter.connection_check_interval, 'seconds'),
    sessionMaxLifetimeMs: toMs(adapter.session_max_lifetime, 'minutes'),
    sessionIdleTimeoutMs: toMs(adapter.session_idle_timeout, 'minutes'),
    reconnectGraceMs: toMs(adapter.reconnect_grace, 'seconds'),
    commandMaxLifetimeMs: toMs(adapter.command_max_lifetime, 'seconds'),
    killGraceMs: toMs(adapter.kill_grace, 'seconds'),
    wedgeTimeoutMs: toMs(adapter.wedge_timeout, 'seconds'),
    maxOutputSize: sizes.max,
    beginOutputSize: sizes.begin,
    endOutputSize: sizes.end,
    spoolMaxBytes: adapter.spool_mb_limit * MIB,
    replayMaxBytes: adapter.replay_kb * KIB,
    resourceLimits: toResourceLimits(adapter),
    cpuWindowMs: toMs(adapter.cpu_window, 'seconds'),
    diskFreeMbFloor: adapter.disk_free_mb_floor,
    limitMechanism: adapter.limit_mechanism,
    maxSessions: adapter.max_sessions,
    queueLimit: adapter.queue_limit,
    prewarm: { sessions: adapter.prewarm.sessions, oneShots: adapter.prewarm.one_shots },
    stateDirectory: pathOf('state_directory', defaultStateDirectory(env)),
  };
}

function llmPaths({ llm, adapter }: CheckedConfiguration, context: ConversionContext) {
  const { models_file: models, worktree_directory: worktrees } = llm;
  const pathOf = (path: readonly string[], value: string) => resolvePath(value, context.baseOf(path), context.env);
  const state = pathOf(['adapter', 'state_directory'], adapter.state_directory ?? defaultStateDirectory(context.env));
  return {
    modelsFile: models === undefined ? undefined : pathOf(['llm', 'models_file'], models),
    worktreeDirectory:
      worktrees === undefined ? join(state, 'worktrees') : pathOf(['llm', 'worktree_directory'], worktrees),
  };
}

function toResourceLimits(section: CheckedConfiguration['adapter' | 'llm']): Limits {
  const given = LIMIT_NAMES.flatMap((name) => {
    const value = section[LIMIT_KEYS[name]];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(given) as Limits;
}

function toCheckpoints(checkpoints: CheckedConfiguration['checkpoints']): CheckpointsConfiguration {
  return {
    maxFiles: checkpoints.max_files,
    maxFileBytes: checkpoints.max_file_mb * MIB,
    maxWorkspaceBytes: checkpoints.max_workspace_mb * MIB,
    maxCount: checkpoints.max_count,
    maxStoreBytes: checkpoints.max_store_mb * MIB,
  };
}

function toAudit(
  { enabled, file, max_size: maxFileBytes, backups }: CheckedConfiguration['audit'],
  stateDirectory: string,
  context: ConversionContext,
): Configuration['audit'] {
  const filePath =
    file === undefined
      ? join(stateDirectory, 'audit.jsonl')
      : resolvePath(file, context.baseOf(['audit', 'file']), context.env);
  return { enabled, filePath, isFileChosen: file !== undefined, maxFileBytes, backups };
}

function toLogging(
  logging: CheckedConfiguration['logging'],
  stateDirectory: string,
  context: ConversionContext,
): LoggingConfiguration {
  const { log_file_path: file } = logging;
  return {
    level: logging.logging_level,
    filePath:
      file === undefined
        ? join(stateDirectory, 'shell_adapter.log')
        : resolvePath(file, context.baseOf(['logging', 'log_file_path']), context.env),
    format: logging.log_format,
    maxFileBytes: logging.max_log_size,
    backupCount: logging.backup_count,
  };
}

function toSocketio(socketio: CheckedConfiguration['socketio'], context: ConversionContext): SocketioConfiguration {
  const { cert, key } = socketio.tls;
  const pathOf = (name: string, path: string) =>
    resolvePath(path, context.baseOf(['socketio', 'tls', name]), context.env);
  const origins = [socketio.cors_allowed_origins].flat();
  return {
    host: socketio.host,
    isLoopback: isLoopback(socketio.host),
    port: socketio.port,
    unixSocket:
      socketio.unix_socket === undefined
        ? undefined
        : resolvePath(socketio.unix_socket, context.baseOf(['socketio', 'unix_socket']), context.env),
    corsAllowedOrigins: origins.includes('*') ? '*' : origins,
    allowedHosts: socketio.allowed_hosts.map((name) => name.toLowerCase()),
    tls: cert === undefined || key === undefined ? undefined : { cert: pathOf('cert', cert), key: pathOf('key', key) },
    maxMessageBytes: socketio.max_message_bytes,
    maxConnections: socketio.max_connections,
    pingIntervalMs: toMs(socketio.ping_interval, 'seconds'),
    pingTimeoutMs: toMs(socketio.ping_timeout, 'seconds'),
  };
}

function toConfirmation(confirmation: CheckedConfiguration['confirmation']): ConfirmationConfiguration {
  const { preset = 'balanced', rules, expires } = confirmation;
  const actions = { ...PRESETS[preset] };
  const modes: Partial<Record<CommandClass, ConfirmationMode>> = {};
  for (const name of COMMAND_CLASSES) {
    const wanted = confirmation.classes[name];
    if (wanted === undefined) continue;
    if (wanted === 'self' || wanted === 'operator' || wanted === 'llm') {
      actions[name] = 'confirm';
      modes[name] = wanted;
    } else actions[name] = wanted;
  }
  const { provider, shell_provider: shellProvider, base_url: baseUrl, model, api_key: apiKey } = confirmation.reviewer;
  return {
    mode: modeOf(confirmation),
    preset,
    actions,
    modes,
    rules,
    expiresMs: toMs(expires, 'seconds'),
    checkpoint: confirmation.checkpoint,
    reviewer: {
      provider,
      shellProvider,
      baseUrl,
      model,
      apiKey: apiKey === undefined ? undefined : new Secret(apiKey),
      timeoutMs: toMs(confirmation.reviewer.timeout, 'seconds'),
    },
  };
}

/** Converts to whole milliseconds, at least one: a time that is configured must not become zero. */
function toMs(value: number, unit: keyof typeof UNIT_MS): number {
  return Math.max(1, Math.round(value * UNIT_MS[unit]));
}

function resolvePath(path: string, base: string, env: NodeJS.ProcessEnv): string {
  const expanded = path === '~' || path.startsWith('~/') ? join(homeOf(env), path.slice(1)) : path;
  return resolve(base, expanded);
}

function homeOf(env: NodeJS.ProcessEnv): string {
  return env['HOME'] || homedir();
}

/** Source: https://specifications.freedesktop.org/basedir-spec/latest/ (relative paths must be ignored). */
function defaultStateDirectory(env: NodeJS.ProcessEnv): string {
  const stateHome = env['XDG_STATE_HOME'] ?? '';
  return join(isAbsolute(stateHome) ? stateHome : join(homeOf(env), '.local/state'), 'shell-adapter');
}
