import type { Principal } from '../../core/access/principal.js';
import type { AuditTrail } from '../../core/audit/event.js';
import type { Log } from '../../core/logging/log.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspection.js';
import type { Policy, PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { JudgedPlace, JudgedRequest } from '../approvals/coverage.js';
import type { Warning } from '../../engine/command/outcome.js';
import type { SessionFacts } from './session-facts.js';
import type { RefusedText } from './syntax-guard.js';

/** The settings of the gate. */
export interface GateSettings {
  /** False when commands pass without checks. */
  readonly isEnforced: boolean;
  readonly policy: Policy;
  /** The policy for what no checkpoint can undo: typed text, and the variables of a session. */
  readonly confirmingPolicy: Policy;
}

/** What was done before a command that runs without a question: a checkpoint of what it may destroy. */
export interface SavedWorkspace {
  readonly checkpointId: string | undefined;
  readonly warnings: readonly Warning[];
}

/** Saves the workspace before a command whose effects a checkpoint can undo. */
export interface CheckpointGuard {
  /**
   * Saves the workspace, unless that takes longer than configured.
   * @returns what was saved, or the reason why the command has to be confirmed instead
   */
  secure(
    request: PolicyRequest,
    verdict: PolicyVerdict,
    principal: Principal,
  ): Promise<SavedWorkspace | { readonly reason: string }>;
}

/** Lets commands run that a remembered approval covers. */
export interface ApprovalGuard {
  /**
   * Returns undefined at once when no approval covers the command.
   * @param isUnchanged whether the place of the command is still the same
   */
  admit(
    judged: JudgedRequest,
    principal: Principal,
    isUnchanged: () => boolean,
  ): Promise<SavedWorkspace | undefined> | undefined;
}

/** An action that has to be confirmed before it is done. */
export interface GateQuestion {
  /** The text that would run, with all its inputs. */
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  /** Where it was judged; undefined for typed text. */
  readonly place?: JudgedPlace;
  /** Set when no confirmation is needed: the workspace was saved, or a remembered approval covers it. */
  readonly saved?: SavedWorkspace | undefined;
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
