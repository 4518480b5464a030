import type { AuditTrail } from '../../core/audit/event.js';
import type { Log } from '../../core/logging/log.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import type { Policy, PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { SessionFacts } from './session-facts.js';
import type { RefusedText, SyntaxGuard } from './syntax-guard.js';

/** The settings of the gate. */
export interface GateSettings {
  /** Whether anything is stopped at all. */
  readonly isEnforced: boolean;
  readonly policy: Policy;
}

/** Something that has to be confirmed before it is done. */
export interface GateQuestion {
  /** The text that would be run, with all that it is given. */
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  /** Set when the shell refuses the text: nothing has to be confirmed then. */
  readonly refused?: RefusedText | undefined;
  /** Notes that it is done after all. */
  pass(): void;
}

/** What the gate needs of the daemon. */
export interface GateOptions {
  readonly settings: () => GateSettings;
  readonly facts: SessionFacts;
  readonly syntax: Pick<SyntaxGuard, 'refusal'>;
  readonly audit: AuditTrail;
  readonly log: Log;
}
