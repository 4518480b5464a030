import type { Principal } from '../../core/principal.js';
import type { AuditTrail } from '../../core/audit-events.js';
import type { Log } from '../../core/log.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import { confirmInstead, type PolicyVerdict } from '../../core/policy/policy.js';
import type { SessionRecord } from '../registry/session-registry.js';
import { decideHere } from './decide-here.js';
import {
  type CheckpointGuard,
  type GateSettings,
  judgementRecord,
  refuse,
  type SavedWorkspace,
} from './gate-options.js';
import type { SessionFacts } from './session-facts.js';

/** Dependencies of `FileGate`. */
export interface FileGateOptions {
  readonly settings: () => GateSettings;
  readonly facts: SessionFacts;
  readonly checkpoints: CheckpointGuard;
  readonly audit: AuditTrail;
  readonly log: Log;
}

/** A request about files, for the policy. */
export interface JudgedFileRequest {
  /** The command that does the same: `cat -- PATH` for a read. Its arguments are paths and options alone. */
  readonly judgedAs: PolicyRequest & { readonly args: readonly string[] };
  /** The request as people see it; without any content of files in its arguments. */
  readonly shown: PolicyRequest;
}

/** Where a request about files is done, and for whom. */
export interface JudgedFilePlace {
  readonly session: SessionRecord | undefined;
  readonly principal: Principal;
}

/** A request about files that is not just allowed. */
export interface FileQuestion {
  readonly verdict: PolicyVerdict;
  /** Set when no confirmation is needed, because the workspace was saved. */
  readonly saved?: SavedWorkspace | undefined;
}

/** Judges requests about files as the command that does the same, by the same policy. */
export class FileGate {
  readonly #options: FileGateOptions;

  constructor(options: FileGateOptions) {
    this.#options = options;
  }

  /**
   * Judges a request. Saves the workspace where the policy requires a checkpoint.
   * @returns undefined when it is allowed
   * @throws AdapterError COMMAND_DENIED
   */
  async admit(request: JudgedFileRequest, place: JudgedFilePlace): Promise<FileQuestion | undefined> {
    const verdict = this.judge(request, place);
    if (verdict?.action !== 'checkpoint') return verdict && { verdict };
    const saved = await this.#options.checkpoints.secure(request.shown, verdict, place.principal);
    return 'reason' in saved ? { verdict: confirmInstead(verdict, saved.reason) } : { verdict, saved };
  }

  /** Whether a request is just allowed. Nothing is recorded. */
  allows(judgedAs: JudgedFileRequest['judgedAs'], { session, principal }: JudgedFilePlace): boolean {
    const { isEnforced, policy } = this.#options.settings();
    if (!isEnforced) return true;
    return decideHere(policy, judgedAs, this.#options.facts.forFiles(session, principal)).action === 'allow';
  }

  /**
   * The verdict on a request; nothing is saved.
   * @returns undefined when it is allowed
   * @throws AdapterError COMMAND_DENIED
   */
  judge({ judgedAs, shown }: JudgedFileRequest, { session, principal }: JudgedFilePlace): PolicyVerdict | undefined {
    const { settings, facts, audit, log } = this.#options;
    const { isEnforced, policy } = settings();
    if (!isEnforced) return undefined;
    const verdict = decideHere(policy, judgedAs, facts.forFiles(session, principal));
    const record = judgementRecord(verdict, session, principal);
    audit.record({ ...record, command: shown.command, args: judgedAs.args });
    refuse(verdict, session, log);
    return verdict.action === 'allow' ? undefined : verdict;
  }
}
