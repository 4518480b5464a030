import type { RedisConnection } from '../cluster/registry/redis-connection.js';
import type { RedisRegistry } from '../cluster/registry/redis-registry.js';
import type { Configuration } from '../config/model/configuration.js';
import type { AuditTrail } from '../core/audit-events.js';
import type { LimitsInForce } from '../core/limits.js';
import type { LogFactory } from '../core/log.js';
import type { Metrics } from '../core/metrics.js';
import type { SecretMask } from '../core/secrets.js';
import type { Traces } from '../core/traces.js';
import type { Platform } from '../engine/platform/platform.js';
import type { TokenRegistry } from '../services/access/shared-tokens.js';
import type { AuditLog, RequestAudit } from '../services/audit.js';
import type { GateSettings } from '../services/gate/gate-options.js';
import type { Notifications } from '../services/notifications.js';
import type { OwnNode } from './cluster.js';

/** Functions to call at shutdown, in the order of construction. */
export type Disposables = (() => void | Promise<void>)[];

/** The parts of the context that exist before the engine. */
export interface EngineContext {
  /** The current configuration: a reload replaces it. */
  readonly configuration: () => Configuration;
  /** Chosen at the start. */
  readonly platform: Platform;
  /** The limits that follow from it. */
  readonly limits: () => LimitsInForce;
  readonly log: LogFactory;
  readonly metrics: Metrics;
  /** Every builder adds how its parts are closed; they are closed in reverse order. */
  readonly closers: Disposables;
}

/** What the nodes of a cluster share. */
export interface SharedRegistry {
  readonly connection: RedisConnection;
  readonly registry: RedisRegistry;
  readonly tokens: TokenRegistry;
}

/** State that changes while the daemon runs, with its metrics, logs and audit log. */
export interface RuntimeContext extends EngineContext {
  /** Version of the adapter. */
  readonly version: string;
  /** `instance_id` for clients: another one means that their sessions and commands have ended. */
  readonly run: string;
  /** This run as a node of a cluster; undefined for a daemon alone. */
  readonly node: OwnNode | undefined;
  /** What it shares with other nodes; undefined for a daemon alone, and without Redis. */
  readonly shared: SharedRegistry | undefined;
  readonly audit: AuditTrail;
  readonly requestAudit: RequestAudit;
  readonly auditLog: AuditLog;
  readonly notifications: Notifications;
  readonly traces: Traces;
  readonly secrets: SecretMask;
  readonly gate: () => GateSettings;
  readonly isClosing: () => boolean;
}
