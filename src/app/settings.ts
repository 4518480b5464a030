import type { Configuration } from '../config/model/configuration.js';
import { configurationError } from '../config/model/problems.js';
import { CONFIRMATION_MODES, type ConfirmationMode } from '../core/confirmation.js';
import type { LimitSet } from '../core/limits.js';
import type { OutputLimits } from '../core/output/output-window.js';
import { COMMAND_CLASSES } from '../core/policy/model.js';
import { type Policy, withoutCheckpoints } from '../core/policy/policy.js';
import { compileRule } from '../core/policy/rules.js';
import { measureLimits, unenforceableOn } from '../engine/limits/mechanism.js';
import type { Platform } from '../engine/platform/platform.js';
import type { QuotaLimits } from '../services/access/admission.js';
import type { ConfirmationSettings } from '../services/confirmations/confirmations.js';
import type { GateSettings } from '../services/gate/gate-options.js';
import type { ResourceMonitorSettings } from '../services/limits/resource-monitor.js';
import type { StatusSettings } from '../services/machine/machine.js';
import type { MetadataSettings } from '../services/machine/metadata.js';
import type { CommandLimits } from '../services/registry/rendered-limits.js';
import type { SessionLimits } from '../services/sessions/sessions.js';

/** A configuration, with the settings of the gate and the limits that follow from it. */
export const settingsOf = (configuration: Configuration) => ({
  configuration,
  gate: gateSettings(configuration),
  limits: measureLimits(configuration.adapter),
});

/**
 * Settings of the gate.
 * @throws {ConfigurationError} when a rule is invalid; a configuration from a file has only valid rules
 */
function gateSettings({ confirmation, childEnvironment, file }: Configuration): GateSettings {
  const rules = confirmation.rules.map((definition, index) => {
    const compiled = compileRule(definition, childEnvironment['HOME']);
    if ('rule' in compiled) return compiled.rule;
    const { field, message } = compiled.problem;
    const path = `confirmation.rules[${index}].${field}`;
    throw configurationError(path, message, { file });
  });
  const written: Policy = { actions: confirmation.actions, rules };
  const confirmingPolicy = withoutCheckpoints(written);
  const policy = confirmation.checkpoint ? written : confirmingPolicy;
  return { isEnforced: confirmation.mode !== 'off', policy, confirmingPolicy };
}

/** Settings of confirmations. With the gate off no confirmation is requested. */
export const confirmationSettings = ({ confirmation }: Configuration): ConfirmationSettings => ({
  mode: confirmation.mode === 'off' ? 'operator' : confirmation.mode,
  modes: confirmation.modes,
  expiresMs: confirmation.expiresMs,
  reviewTimeoutMs: confirmation.reviewer.timeoutMs,
});

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
export const outputLimits = ({ adapter }: Configuration): OutputLimits => ({
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
  configuration: Configuration,
  { resources }: LimitSet,
  platform: Platform,
): CommandLimits => ({
  timeoutMs: configuration.adapter.commandTimeoutMs,
  maxLifetimeMs: configuration.adapter.commandMaxLifetimeMs,
  queueLimit: configuration.adapter.queueLimit,
  maxOneShots: configuration.adapter.maxSessions,
  resources,
  unenforceable: unenforceableOn(platform),
  output: outputLimits(configuration),
  spoolMaxBytes: configuration.adapter.spoolLimitBytes,
  replayMaxBytes: configuration.adapter.replayBytes,
});

export const watchSettings = (
  { adapter: { cpuWindowMs } }: Configuration,
  { diskFreeMbFloor }: LimitSet,
): ResourceMonitorSettings => ({ cpuWindowMs, diskFreeMbFloor });

export const statusSettings = (configuration: Configuration): StatusSettings => ({
  configuration_file: configuration.file ?? null,
  workspace_directory: configuration.adapter.workspaceDirectory,
  state_directory: configuration.adapter.stateDirectory,
  log_file: configuration.logging.logFilePath,
  dashboard: configuration.http.dashboard,
  confirmed_by: confirmersOf(configuration),
});

/** The confirmation modes that a command may require; none if confirmation is off. */
function confirmersOf({ confirmation }: Configuration): ConfirmationMode[] {
  const { mode, actions, modes, rules } = confirmation;
  if (mode === 'off') return [];
  const ofClasses = COMMAND_CLASSES.flatMap((name) => (actions[name] === 'confirm' ? [modes[name] ?? mode] : []));
  const asked = new Set([...ofClasses, ...(rules.some(({ action }) => action === 'confirm') ? [mode] : [])]);
  return CONFIRMATION_MODES.filter((name) => asked.has(name));
}

export const metadataSettings = (configuration: Configuration): MetadataSettings => {
  const { adapter, socketio, http, environments, confirmation, audit } = configuration;
  return {
    limits: {
      command_timeout_ms: adapter.commandTimeoutMs,
      command_max_lifetime_ms: adapter.commandMaxLifetimeMs,
      session_max_lifetime_ms: adapter.sessionMaxLifetimeMs,
      max_sessions: adapter.maxSessions,
      queue_limit: adapter.queueLimit,
      max_output_size: adapter.maxOutputSize,
      begin_output_size: adapter.beginOutputSize,
      end_output_size: adapter.endOutputSize,
      max_message_bytes: socketio.maxMessageBytes,
    },
    http: { dashboard: http.dashboard, openai: http.openai, mcp: http.mcp, metrics: http.metrics },
    environments: Object.keys(environments),
    confirmation_mode: confirmation.mode,
    audit_enabled: audit.enabled,
  };
};
