import type { AuditTrail } from '../../core/audit/event.js';
import type { Log } from '../../core/logging/log.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import type { Policy, PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { SessionFacts } from './session-facts.js';
import type { RefusedText } from './syntax-guard.js';

/** The settings of the gate. */
export interface GateSettings {
  /** False when commands pass without checks. */
  readonly isEnforced: boolean;
  readonly policy: Policy;
}

/** An action that has to be confirmed before it is done. */
export interface GateQuestion {
  /** The text that would run, with all its inputs. */
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  /** Set when the shell rejects the text: then no confirmation is needed. */
  readonly refused?: RefusedText | undefined;
  /** Notes that the action is done after a confirmation. */
  pass(): void;
}

/** Dependencies of `TypingGate`. */
export interface TypingGateOptions {
  readonly settings: () => GateSettings;
  readonly facts: SessionFacts;
  readonly audit: AuditTrail;
  readonly log: Log;
}
