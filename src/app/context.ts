import { hostname } from 'node:os';

import type { OwnNode } from '../cluster/own-work.js';
import type { RedisRegistry } from '../cluster/registry/redis-registry.js';
import type { Configuration } from '../config/model/configuration.js';
import { configurationError } from '../config/model/problems.js';
import { type AuditTrail, NO_AUDIT } from '../core/audit-events.js';
import { AdapterError } from '../core/errors.js';
import type { LimitsInForce } from '../core/limits.js';
import type { LogFactory } from '../core/log.js';
import type { Metrics } from '../core/metrics.js';
import type { SecretMask } from '../core/secrets.js';
import { NO_TRACES, type Traces } from '../core/traces.js';
import { AuditFile } from '../engine/audit/audit-file.js';
import type { Platform } from '../engine/platform/platform.js';
import type { TokenRegistry } from '../services/access/shared-tokens.js';
import { AuditLog, RequestAudit } from '../services/audit.js';
import type { GateSettings } from '../services/gate/gate-options.js';
import { Notifications } from '../services/notifications.js';
import type { Detachment } from './detach.js';

/** What has to be closed, in the reverse order of construction. */
export class Closers implements AsyncDisposable {
  readonly #closers: (() => unknown)[] = [];

  /** Returns a value that is disposed of with the rest. */
  use<T extends Disposable | AsyncDisposable>(value: T): T {
    this.defer(() => (Symbol.asyncDispose in value ? value[Symbol.asyncDispose]() : value[Symbol.dispose]()));
    return value;
  }

  /** Calls a function, and waits for its promise, when all that is constructed later is closed. */
  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}

/** What exists before the engine, and is used everywhere. */
export interface EngineContext {
  /** The current configuration: a reload replaces it. */
  readonly configuration: () => Configuration;
  /** The limits and the settings of the gate that follow from it. */
  readonly limits: () => LimitsInForce;
  readonly gate: () => GateSettings;
  readonly platform: Platform;
  readonly log: LogFactory;
  readonly metrics: Metrics;
  readonly secrets: SecretMask;
  readonly version: string;
  /** This run as a node of a cluster; undefined for a daemon alone. */
  readonly node: OwnNode | undefined;
  readonly detachment: Detachment | undefined;
  readonly closers: Closers;
  readonly isClosing: () => boolean;
}

/** The same with what records the work of the daemon, and what it shares with others. */
export interface RuntimeContext extends EngineContext {
  /** `instance_id` for clients: another one means that their sessions and commands have ended. */
  readonly run: string;
  readonly notifications: Notifications;
  readonly audit: AuditTrail;
  readonly requestAudit: RequestAudit;
  readonly auditLog: AuditLog;
  /** What the nodes of a cluster share; undefined for a daemon alone, and without Redis. */
  readonly shared: SharedRegistry | undefined;
  readonly traces: Traces;
}

/** What the nodes of a cluster share. */
interface SharedRegistry {
  readonly registry: RedisRegistry;
  readonly tokens: TokenRegistry;
}

/**
 * Adds to a context what records the work of the daemon. It is closed after all that it records, except for the engine.
 * @param instance id of this process
 * @param run see `RuntimeContext`
 * @throws ConfigurationError when a package is missing; AdapterError RESOURCE_EXHAUSTED when another daemon writes the
 *   audit log that the configuration names
 */
export async function completeContext(context: EngineContext, instance: string, run: string): Promise<RuntimeContext> {
  const { configuration, metrics, log, secrets, closers } = context;
  const notifications = new Notifications(hostname(), metrics, log('notify'), secrets);
  notifications.configure(configuration().notify.webhooks);
  closers.use(notifications);
  const file = await openAudit(context);
  const audit = file ?? NO_AUDIT;
  return {
    ...context,
    run,
    notifications,
    audit,
    requestAudit: new RequestAudit(audit),
    auditLog: new AuditLog(file?.path, () => file?.lastSeq ?? 0),
    shared: await openRegistry(context),
    traces: await buildTraces(context, instance),
  };
}

/** Most daemons that may share a state directory, each with its own audit log. */
const MAX_DAEMONS = 64;

/** Opens the audit log; undefined when nothing is recorded. */
async function openAudit(context: EngineContext): Promise<AuditFile | undefined> {
  const { configuration, closers, platform, secrets: mask, log: logs } = context;
  const { audit } = configuration();
  if (!audit.enabled) return undefined;
  const log = logs('audit');
  const open = (path: string) =>
    AuditFile.open({
      path,
      platform,
      maxBytes: audit.maxSizeBytes,
      backups: audit.backups,
      mask,
      onFailure: (error) => {
        log.error('the audit log cannot be written; what happens meanwhile waits, up to a bound', {
          error: String(error),
        });
      },
    });
  const file = closers.use(audit.isFileChosen ? await open(audit.file) : await openFirstFree(audit.file, open));
  if (file.path !== audit.file) log.warn('another daemon has the audit log; this one has its own', { file: file.path });
  return file;
}

/**
 * Two daemons in one hash chain would break it: opens `audit.jsonl`, or the first unlocked file of `audit-2.jsonl`, …
 */
async function openFirstFree(path: string, open: (path: string) => Promise<AuditFile>): Promise<AuditFile> {
  for (let number = 1; ; number += 1) {
    try {
      return await open(number === 1 ? path : path.replace(/(\.\w+)?$/, `-${number}$1`));
    } catch (error) {
      if (!(error instanceof AdapterError) || number === MAX_DAEMONS) throw error;
    }
  }
}

/**
 * Connects to the registry of the cluster, and loads what that needs only if there is one. A registry that does not
 * answer is tried further.
 * @returns undefined for a daemon alone, and where workers are registered at each gateway
 */
async function openRegistry(context: EngineContext): Promise<SharedRegistry | undefined> {
  const { configuration, closers, metrics, log: logs } = context;
  const { enabled, redisUrl, keyPrefix: prefix, leaseMs } = configuration().cluster;
  if (!enabled || redisUrl === undefined) return undefined;
  const { RedisConnection } = await import('../cluster/registry/redis-connection.js');
  const { RedisTokens } = await import('../cluster/registry/redis-tokens.js');
  const { RedisRegistry } = await import('../cluster/registry/redis-registry.js');
  const log = logs('cluster');
  const onError = () => {
    metrics.count('cluster_registry_errors_total', {});
  };
  try {
    const connection = closers.use(await RedisConnection.open({ url: redisUrl.reveal(), prefix, onError, log }));
    const registry = new RedisRegistry(connection, leaseMs, log);
    return { registry, tokens: new RedisTokens(connection, log) };
  } catch (error) {
    throw missingPackage(error, 'cluster.redis_url', 'needs ioredis: npm install ioredis');
  }
}

/** Builds the traces, and loads OpenTelemetry only if they are on. */
async function buildTraces(context: EngineContext, instanceId: string): Promise<Traces> {
  const { configuration, closers, secrets, version, log: logs } = context;
  const { enabled, includeCommand, endpoint, sampleRatio, serviceName } = configuration().traces;
  if (!enabled) return NO_TRACES;
  const { EXPORT_PACKAGES, startExport } = await import('../traces/export.js');
  const { OpenTelemetryTraces } = await import('../traces/open-telemetry.js');
  try {
    const log = logs('traces');
    closers.defer(await startExport({ endpoint, sampleRatio, serviceName, version, instanceId, log }));
  } catch (error) {
    const packages = EXPORT_PACKAGES.join(' ');
    throw missingPackage(error, 'traces.enabled', `needs packages that are not installed: npm install ${packages}`);
  }
  return new OpenTelemetryTraces({ version, secrets, includesCommand: includeCommand });
}

/** The error for a package that is not installed; any other error is returned as it is. */
const missingPackage = (error: unknown, setting: string, message: string): unknown =>
  (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND'
    ? configurationError(setting, message, { cause: error })
    : error;
