import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import { confirmInstead, type PolicyVerdict } from '../../core/policy/policy.js';
import { decideHere } from './decide-here.js';
import { type CheckpointGuard, type GateDesk, type SavedWorkspace, type VerdictPlace } from './gate-options.js';

/** A request about files, for the policy. */
export interface JudgedFileRequest {
  /** The command that does the same: `cat -- PATH` for a read. Its arguments are paths and options alone. */
  readonly judgedAs: PolicyRequest & { readonly args: readonly string[] };
  /** The request as people see it; without any content of files in its arguments. */
  readonly shown: PolicyRequest;
}

/** A request about files that is not just allowed. */
export interface FileQuestion {
  readonly verdict: PolicyVerdict;
  /** Set when no confirmation is needed, because the workspace was saved. */
  readonly saved?: SavedWorkspace | undefined;
}

/** Judges requests about files as the command that does the same, by the same policy. */
export class FileGate {
  readonly #desk: GateDesk;
  readonly #checkpoints: CheckpointGuard;

  constructor(desk: GateDesk, checkpoints: CheckpointGuard) {
    this.#desk = desk;
    this.#checkpoints = checkpoints;
  }

  /**
   * Judges a request. Saves the workspace where the policy requires a checkpoint.
   * @returns undefined when it is allowed
   * @throws AdapterError COMMAND_DENIED
   */
  async admit(request: JudgedFileRequest, place: VerdictPlace): Promise<FileQuestion | undefined> {
    const verdict = this.judge(request, place);
    if (verdict?.action !== 'checkpoint') return verdict && { verdict };
    const saved = await this.#checkpoints.secure(request.shown, verdict, place.principal);
    return 'reason' in saved ? { verdict: confirmInstead(verdict, saved.reason) } : { verdict, saved };
  }

  /** Whether a request is just allowed. Nothing is recorded. */
  allows(judgedAs: JudgedFileRequest['judgedAs'], { session, principal }: VerdictPlace): boolean {
    const { isEnforced, policy } = this.#desk.settings();
    if (!isEnforced) return true;
    return decideHere(policy, judgedAs, this.#desk.facts.forFiles(session, principal)).action === 'allow';
  }

  /**
   * The verdict on a request; nothing is saved.
   * @returns undefined when it is allowed
   * @throws AdapterError COMMAND_DENIED
   */
  judge({ judgedAs, shown }: JudgedFileRequest, place: VerdictPlace): PolicyVerdict | undefined {
    const { isEnforced, policy } = this.#desk.settings();
    if (!isEnforced) return undefined;
    const verdict = decideHere(policy, judgedAs, this.#desk.facts.forFiles(place.session, place.principal));
    this.#desk.note(verdict, place, { command: shown.command, args: judgedAs.args });
    return verdict.action === 'allow' ? undefined : verdict;
  }
}
