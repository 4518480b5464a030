import type { Configuration } from '../config/model/configuration.js';
import {
  LIMIT_KEYS,
  type LimitMechanismName,
  type LimitName,
  type LimitSet,
  type LimitsInForce,
} from '../core/limits.js';
import type { Log } from '../core/log.js';
import type { OutputLimits } from '../core/output/output-window.js';
import type { Answer } from '../core/protocol/requests.js';
import { nameWithoutLimits, unenforceableOn } from '../engine/limits/mechanism.js';
import type { ChosenMechanism } from '../engine/limits/probe.js';
import type { Platform } from '../engine/platform/platform.js';
import type { QuotaLimits } from '../services/access/admission.js';
import type { ResourceMonitorSettings } from '../services/limits/resource-monitor.js';
import type { CommandLimits } from '../services/registry/rendered-limits.js';
import type { SessionLimits } from '../services/sessions/sessions.js';

/** Burst of the token bucket: the number of requests that the rate allows in this many seconds. */
const BURST_SECONDS = 2;

/** Limits on the requests and sessions of a token. */
export const quotaLimits = ({ auth }: Configuration): QuotaLimits => ({
  requests: { perSecond: auth.requestsPerSecond, burst: auth.requestsPerSecond * BURST_SECONDS },
  maxSessions: auth.maxSessionsPerToken,
});

/** Limits on sessions; times are in milliseconds. */
export const sessionLimits = (
  { adapter }: Configuration,
  { resources }: LimitSet,
  platform: Platform,
): SessionLimits => ({
  maxSessions: adapter.maxSessions,
  maxLifetimeMs: adapter.sessionMaxLifetimeMs,
  idleTimeoutMs: adapter.sessionIdleTimeoutMs,
  reconnectGraceMs: adapter.reconnectGraceMs,
  checkIntervalMs: adapter.connectionCheckIntervalMs,
  killGraceMs: adapter.killGraceMs,
  wedgeTimeoutMs: adapter.wedgeTimeoutMs,
  resources,
  unenforceable: unenforceableOn(platform),
  spoolMaxBytes: adapter.spoolLimitBytes,
  replayMaxBytes: adapter.replayBytes,
});

/** Limits on the output of a command. */
export const outputLimits = ({ adapter }: Pick<Configuration, 'adapter'>): OutputLimits => ({
  maxSize: adapter.maxOutputSize,
  beginSize: adapter.beginOutputSize,
  endSize: adapter.endOutputSize,
  lines:
    adapter.maxOutputLines === undefined
      ? undefined
      : {
          maxLines: adapter.maxOutputLines,
          beginLines: adapter.beginOutputLines ?? 0,
          endLines: adapter.endOutputLines ?? 0,
        },
  maxLineLength: adapter.maxLineLength,
});

/** Limits on commands; times are in milliseconds. */
export const commandLimits = (
  { adapter }: Configuration,
  { resources }: LimitSet,
  platform: Platform,
): CommandLimits => ({
  timeoutMs: adapter.commandTimeoutMs,
  maxLifetimeMs: adapter.commandMaxLifetimeMs,
  queueLimit: adapter.queueLimit,
  maxOneShots: adapter.maxSessions,
  resources,
  unenforceable: unenforceableOn(platform),
  output: outputLimits({ adapter }),
  spoolMaxBytes: adapter.spoolLimitBytes,
  replayMaxBytes: adapter.replayBytes,
});

/** Settings of the resource monitor. */
export const watchSettings = (
  { adapter: { cpuWindowMs } }: Configuration,
  { diskFreeMbFloor }: LimitSet,
): ResourceMonitorSettings => ({ cpuWindowMs, diskFreeMbFloor });

/** Limits as `shell_metadata` reports them. */
export const reportedLimits = ({ adapter, socketio }: Configuration): Answer<'shell_metadata'>['limits'] => ({
  command_timeout_ms: adapter.commandTimeoutMs,
  command_max_lifetime_ms: adapter.commandMaxLifetimeMs,
  session_max_lifetime_ms: adapter.sessionMaxLifetimeMs,
  max_sessions: adapter.maxSessions,
  queue_limit: adapter.queueLimit,
  max_output_size: adapter.maxOutputSize,
  begin_output_size: adapter.beginOutputSize,
  end_output_size: adapter.endOutputSize,
  max_message_bytes: socketio.maxMessageBytes,
});

const MECHANISMS: Readonly<Record<LimitMechanismName, string>> = {
  cgroup2: 'the kernel (control groups, version 2)',
  cgroup1: 'the kernel (control groups, version 1)',
  pid_namespace: 'sampling the processes, in a PID namespace of each session',
  polling: 'sampling the processes',
};

/**
 * Logs how resource limits are enforced: one plain line at `info` if the configuration sets a limit, and the details
 * (mechanism, why better ones cannot be used, and the safety net) at `debug`. Warns of limits that cannot be enforced.
 */
export function logLimits(
  limits: LimitsInForce,
  { mechanism, rejected }: ChosenMechanism,
  unenforceable: readonly LimitName[],
  log: Log,
): void {
  const { name } = mechanism;
  if (limits.isConfigured) log.info(`resource limits are enforced by ${MECHANISMS[name]}`);
  for (const limit of unenforceable.filter((each) => limits.configured.resources[each] !== undefined)) {
    log.warn('a limit of the configuration cannot be enforced on this platform', { limit: LIMIT_KEYS[limit] });
  }
  log.debug('limit mechanism', { mechanism: name, without_limits: nameWithoutLimits(mechanism), rejected });
  log.debug('safety net', { ...limits.net.resources, disk_free_mb: limits.net.diskFreeMbFloor });
}
