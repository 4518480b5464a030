import type { Configuration } from '../config/model/configuration.js';
import { configurationError } from '../config/model/problems.js';
import { auditPrincipal, type AuditTrail } from '../core/audit-events.js';
import {
  CONFIRMATION_OUTCOMES,
  type ConfirmationObserver,
  type ConfirmationRecord,
  mayDestroy,
} from '../core/confirmation.js';
import type { Log } from '../core/log.js';
import type { Metrics } from '../core/metrics.js';
import type { Notification } from '../core/notifications.js';
import { type Policy, withoutCheckpoints } from '../core/policy/policy.js';
import { compileRule } from '../core/policy/rules.js';
import type { SecretMask } from '../core/secrets.js';
import { OpenAiReviewer, ProviderReviewer, ReviewCache } from '../services/llm/review.js';
import type { Access } from '../services/access/access.js';
import type { RememberedApprovals } from '../services/remembered-approvals.js';
import { labelBefore } from '../services/checkpoints/checkpoint-guard.js';
import type { WorkspaceCheckpoints } from '../services/checkpoints/workspace-checkpoints.js';
import { Confirmations, type ConfirmationSettings, type SaveBefore } from '../services/confirmations/confirmations.js';
import type { Reviewer } from '../services/confirmations/confirmation.js';
import type { GateSettings } from '../services/gate/gate-options.js';
import type { LlmCalls } from '../services/llm/calls.js';
import type { Connections } from '../services/registry/caller.js';
import type { RuntimeContext } from './runtime-context.js';

/**
 * Settings of the gate.
 * @throws {ConfigurationError} when a rule is invalid; a configuration from a file has only valid rules
 */
export function gateSettings({ confirmation, childEnvironment, file }: Configuration): GateSettings {
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

interface Parts {
  readonly connections: Connections;
  readonly checkpoints: WorkspaceCheckpoints;
  readonly llm: LlmCalls;
  readonly access: Access;
  readonly approvals: RememberedApprovals;
}

/** Creates the confirmations, with the model or operator that decides on them. */
export function buildConfirmations(
  { connections, checkpoints, llm, access, approvals }: Parts,
  { configuration, secrets, metrics, audit, notifications, log, closers, node }: RuntimeContext,
): Confirmations {
  const reviewerSettings = () => configuration().confirmation.reviewer;
  const cache = new ReviewCache(() => reviewerSettings().cacheMs);
  const observer = observe(log('confirmations'), metrics, audit);
  const confirmations = new Confirmations({
    settings: () => confirmationSettings(configuration()),
    connections,
    reviewer: () => {
      const { provider, shellProvider, baseUrl, model, apiKey } = reviewerSettings();
      const identity = JSON.stringify([provider, shellProvider, baseUrl, model]);
      const wrap = (reviewer: Reviewer) => cache.wrap(withoutSecrets(reviewer, secrets), identity);
      if (provider !== 'openai') return wrap(new ProviderReviewer(llm, provider, shellProvider, model));
      return model === undefined ? undefined : wrap(new OpenAiReviewer(model, baseUrl, apiKey));
    },
    save: saveBefore(checkpoints, () => configuration().confirmation.checkpoint),
    approvals,
    diffBaseFor: (viewer) => checkpoints.newestFor(viewer),
    isActive: (principal) => access.isActive(principal),
    node: node?.id,
    observe: (record) => {
      observer(record);
      if (record.event === 'asked' && record.mode === 'operator') notifications.notify(waitingNotification(record));
    },
  });
  closers.push(() => confirmations[Symbol.asyncDispose]());
  return confirmations;
}

/** Masks secrets in the questions to a reviewer, which may be a third-party service. */
const withoutSecrets = (reviewer: Reviewer, secrets: Pick<SecretMask, 'value'>): Reviewer => ({
  name: reviewer.name,
  review: (question, signal) => reviewer.review(secrets.value(question), signal),
});

/** A workspace that cannot be saved does not block the command: it was confirmed, and the result carries a warning. */
export const saveBefore = (checkpoints: WorkspaceCheckpoints, isWanted: () => boolean): SaveBefore => {
  return async ({ kind, request, verdict, caller }) => {
    if ((kind !== 'command' && kind !== 'file') || !isWanted() || !mayDestroy(verdict))
      return { checkpointId: undefined, warnings: [] };
    try {
      const { principal } = caller;
      const { id } = await checkpoints.of(principal).saveBeforeCommand(labelBefore(request), principal);
      return { checkpointId: id, warnings: [] };
    } catch (error) {
      const message = `the workspace could not be saved before this command: ${(error as Error).message}`;
      return { checkpointId: undefined, warnings: [{ code: 'NO_CHECKPOINT', message }] };
    }
  };
};

/** Logs, audits and counts every confirmation event. Decisions are logged at `info`, failed attempts at `warn`. */
function observe(log: Log, metrics: Metrics, audit: AuditTrail): ConfirmationObserver {
  return (record) => {
    const { event, mode, requester, by, confirmationId, commandSha256, commandId, sessionId } = record;
    const isOdd = event === 'mismatch' || event === 'refused' || event === 'void';
    log[isOdd ? 'warn' : 'info'](`confirmation ${event}`, {
      confirmation_id: confirmationId,
      mode,
      requester: requester.name,
      by: by?.name,
      justification: record.justification || undefined,
      command: record.command,
      command_sha256: commandSha256,
      command_id: commandId,
      session_id: sessionId,
      class: record.class,
    });
    audit.record({
      event: 'decision',
      principal: auditPrincipal(requester),
      session_id: sessionId,
      command_id: commandId,
      command: record.command,
      verdict: { action: 'confirm', class: record.class, reasons: record.reasons },
      details: {
        decision: event,
        confirmation_id: confirmationId,
        command_sha256: commandSha256,
        mode,
        ...(record.typedCharacters !== undefined && { typed_characters: record.typedCharacters }),
        ...(by && { by: { id: by.id, name: by.name } }),
        ...(record.justification !== '' && { justification: record.justification }),
      },
    });
    const outcome = CONFIRMATION_OUTCOMES.find((name) => name === event);
    if (outcome) metrics.count('confirmations_total', { requires: mode, outcome });
  };
}

/** Tells that a request waits for an operator. */
function waitingNotification(record: ConfirmationRecord): Notification {
  const { confirmationId, requester, command, commandId, sessionId } = record;
  const what = command === undefined ? 'input' : 'a command';
  return {
    event: 'confirmation_required',
    message: `${what} of ${requester.name} waits for an operator (${record.class})`,
    sessionId,
    commandId,
    class: record.class,
    command,
    details: { confirmation_id: confirmationId, requested_by: requester.name },
  };
}
