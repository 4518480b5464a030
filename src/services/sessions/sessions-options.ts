import type { AuditTrail } from '../../core/audit/event.js';
import type { IdOptions } from '../../core/ids.js';
import type { LimitName, Limits } from '../../core/limits/limits.js';
import type { Log } from '../../core/logging/log.js';
import type { Metrics } from '../../core/metrics/metrics.js';
import type { Quotas } from '../access/quotas.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import type { ShellGate } from '../gate/shell-gate.js';
import type { Recordings } from '../recordings/recordings.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import type { SessionUsage } from '../usage/session-usage.js';
import type { Executions } from '../users/executions.js';
import type { HeldSession } from './held-session.js';
import type { DeadlineLimits } from './session-deadlines.js';

/** Bounds of sessions, from the configuration. Times are in milliseconds. */
export interface SessionLimits extends DeadlineLimits {
  readonly maxSessions: number;
  readonly killGraceMs: number;
  readonly wedgeTimeoutMs: number;
  readonly spoolMaxBytes: number;
  readonly replayMaxBytes: number;
  /** Limits on all processes of a session together. */
  readonly resources: Limits;
  /** Limits that the platform cannot enforce. */
  readonly unenforceable: readonly LimitName[];
}

/** Dependencies of `Sessions`. */
export interface SessionsOptions extends IdOptions {
  readonly executions: Pick<Executions, 'of'>;
  readonly commands: CommandRegistry;
  readonly limits: () => SessionLimits;
  readonly gate: Pick<ShellGate, 'admit'>;
  readonly confirmations: Pick<Confirmations, 'endSession'>;
  readonly metrics: Metrics;
  readonly usage: SessionUsage;
  readonly recordings: Pick<Recordings, 'begin' | 'end' | 'discard'>;
  readonly audit: AuditTrail;
  readonly quotas: Pick<Quotas, 'admitSession'>;
  /** Called when a session has ended, so that its place is free. */
  readonly onEnded?: ((session: HeldSession) => void) | undefined;
  readonly log: Log;
}

/** How a session is opened, besides what the client has asked for. */
export interface OpenOptions {
  readonly isHidden?: boolean | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}
