import type { Principal } from '../../core/access/principal.js';
import type { AuditTrail } from '../../core/audit/event.js';
import type { Log } from '../../core/logging/log.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { WorkspaceCheckpoints } from '../checkpoints/workspace-checkpoints.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import { termsOf } from '../confirmations/wire.js';
import type { GateSettings } from '../gate/gate-options.js';
import { judgementRecord, refuse } from '../gate/gate-verdicts.js';
import type { Caller } from '../registry/caller.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import { type Affected, type RestoreQuestion, verdictOn } from './restore-question.js';
import { restoreAction } from './restore-action.js';

/** Dependencies of `Restores`. */
export interface RestoresOptions {
  readonly checkpoints: WorkspaceCheckpoints;
  readonly registry: Pick<CommandRegistry, 'othersActiveSince'>;
  readonly confirmations: Confirmations;
  readonly settings: () => Pick<GateSettings, 'isEnforced' | 'confirmingPolicy'>;
  readonly audit: AuditTrail;
  readonly log: Log;
}

/**
 * Restores workspaces. A restore that would remove or overwrite files has to be confirmed when other tokens have run
 * commands in the workspace since the checkpoint: the files may be theirs.
 */
export class Restores {
  readonly #options: RestoresOptions;

  constructor(options: RestoresOptions) {
    this.#options = options;
  }

  /**
   * Restores the workspace, at once or once it is confirmed.
   * @throws AdapterError COMMAND_DENIED, and the errors of `Checkpoints.restore`
   */
  async restore(request: Request<'restore_workspace'>, caller: Caller): Promise<Answer<'restore_workspace'>> {
    const { principal } = caller;
    const checkpoints = this.#options.checkpoints.of(principal);
    const question = await this.#judge(request, principal);
    if (!question) return checkpoints.restore(request, principal);
    const asked = this.#options.confirmations.ask(
      restoreAction({
        request,
        question,
        caller,
        directory: checkpoints.workspace,
        judge: () => this.#judge(request, principal),
        restore: () => checkpoints.restore(request, principal),
      }),
    );
    if (!this.#options.confirmations.join(asked, caller, true)) return pending(request, question, termsOf(asked));
    const { restored } = await asked.answer.promise;
    // An approved restore has its result.
    if (!restored) throw new Error('a confirmed restore has no result');
    return restored;
  }

  /** Returns the question, or undefined for a restore that needs none. */
  async #judge(request: Request<'restore_workspace'>, principal: Principal): Promise<RestoreQuestion | undefined> {
    const { settings, audit, log } = this.#options;
    const { isEnforced, confirmingPolicy } = settings();
    if (!isEnforced) return undefined;
    const affected = await this.#findAffected(request, principal);
    if (affected.others.length === 0 || affected.count === 0) return undefined;
    const question = verdictOn(request, affected, confirmingPolicy);
    const { command, args } = question.request;
    audit.record({ ...judgementRecord(question.verdict, undefined, principal), command, args });
    refuse(question.verdict, undefined, log);
    return question.verdict.action === 'allow' ? undefined : question;
  }

  /** Finds which files a restore would take, and whose they may be. */
  async #findAffected(request: Request<'restore_workspace'>, principal: Principal): Promise<Affected> {
    const { checkpoint_id: id, paths } = request;
    const checkpoints = this.#options.checkpoints.of(principal);
    const { checkpoints: known } = await checkpoints.list(principal);
    const since = known.find((each) => each.checkpoint_id === id)?.created_at;
    const others = since === undefined ? [] : this.#options.registry.othersActiveSince(principal, Date.parse(since));
    if (others.length === 0) return { others: [], removed: [], overwritten: [], count: 0 };
    const { changes, change_count: all } = await checkpoints.diff({ checkpoint_id: id, paths }, principal);
    const pathsWith = (isMeant: (status: string) => boolean) =>
      changes.filter(({ status }) => isMeant(status)).map(({ path }) => path);
    const removed = pathsWith((status) => status === 'added');
    const overwritten = pathsWith((status) => status !== 'added' && status !== 'deleted');
    // What is not listed counts: it may be anything.
    const count = removed.length + overwritten.length + (all - changes.length);
    return { others: others.map(({ name }) => name), removed, overwritten, count };
  }
}

/** The answer to a request that the client itself has to confirm. */
const pending = (
  { checkpoint_id }: Request<'restore_workspace'>,
  { affected: { removed } }: RestoreQuestion,
  terms: ReturnType<typeof termsOf>,
): Answer<'restore_workspace'> => ({
  status: 'confirmation_required',
  checkpoint_id,
  restored: [],
  restored_count: 0,
  removed: [],
  removed_count: 0,
  skipped: [],
  skipped_count: 0,
  undo_checkpoint_id: null,
  would_remove: [...removed],
  ...terms,
});
