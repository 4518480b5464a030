import type { Principal } from '../../core/principal.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import type { Policy, PolicyVerdict } from '../../core/policy/policy.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { newCommandId } from '../commands/command-runner.js';
import type { ConfirmableAction } from '../confirmations/confirmation.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import { changedPlace } from '../confirmations/failures.js';
import type { GateDesk } from '../gate/gate-options.js';
import type { Caller } from '../registry/caller.js';
import { renderUnstarted } from '../registry/command-record.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import type { WorkspaceCheckpoints } from './workspace-checkpoints.js';

/** What a restore takes that may belong to others. Paths are relative to the workspace. */
interface Affected {
  /** Names of the other tokens that have run commands since the checkpoint. */
  readonly others: readonly string[];
  readonly removed: readonly string[];
  readonly overwritten: readonly string[];
  /** Number of both, with those that are not listed. */
  readonly count: number;
}

/** A restore that has to be confirmed. */
interface RestoreQuestion {
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  readonly affected: Affected;
}

/** Maximum number of paths that a reason names. */
const MAX_NAMED = 5;

/** Judges a restore as what it is: deleting and overwriting files that others may have written. */
function verdictOn(
  { checkpoint_id: id, paths = [] }: Request<'restore_workspace'>,
  affected: Affected,
  { actions }: Pick<Policy, 'actions'>,
): RestoreQuestion {
  const request = { command: 'restore_workspace', args: [id, ...paths] };
  const reasons = reasonsOf(affected);
  const judged = { action: actions.destructive, class: 'destructive', reasons } as const;
  const verdict: PolicyVerdict = {
    ...judged,
    commands: [{ ...judged, text: [request.command, ...request.args].join(' '), program: undefined }],
    causes: judged.action === 'confirm' ? ['destructive'] : [],
    changesNames: false,
    isUnparsable: false,
    takesTyping: false,
    hasUnknowns: false,
    paths: [],
    scripts: [],
    repositories: [],
    losses: [],
  };
  return { request, verdict, affected };
}

function reasonsOf({ others, removed, overwritten, count }: Affected): readonly string[] {
  const unlisted = count - removed.length - overwritten.length;
  return [
    `since the checkpoint, ${others.join(', ')} ran commands in the workspace: files may be theirs`,
    ...(removed.length > 0 ? [`removes ${named(removed)}`] : []),
    ...(overwritten.length > 0 ? [`overwrites ${named(overwritten)}`] : []),
    ...(unlisted > 0 ? [`changes ${unlisted} more files, which are too many to list`] : []),
  ];
}

const named = (paths: readonly string[]): string => {
  const rest = paths.length - MAX_NAMED;
  return `${paths.slice(0, MAX_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/** A restore that needs a confirmation, and the functions that judge it again and do it. */
interface StoppedRestore {
  readonly request: Request<'restore_workspace'>;
  readonly question: RestoreQuestion;
  readonly caller: Caller;
  /** The workspace. */
  readonly directory: string;
  readonly judge: () => Promise<RestoreQuestion | undefined>;
  readonly restore: () => Promise<Answer<'restore_workspace'>>;
}

/** Creates the action of a stopped restore: it is done if it takes no file that the approver was not shown. */
function restoreAction({ question, caller, directory, judge, restore }: StoppedRestore): ConfirmableAction {
  const { request, verdict, affected } = question;
  const commandId = newCommandId();
  return {
    kind: 'restore',
    request,
    verdict,
    caller,
    owner: caller.principal,
    session: undefined,
    directory,
    commandId,
    fingerprint: '',
    assertReady: () => undefined,
    // The approval is for the files that were shown, not for a verdict.
    judge: async () => {
      const change = findChange(affected, (await judge())?.affected);
      if (change !== undefined) throw changedPlace(change);
      return undefined;
    },
    run: async () => {
      const restored = await restore();
      return { ...renderUnstarted({ commandId, sessionId: null, directory }, 'completed'), restored };
    },
  };
}

/** Describes a file that a restore takes now, and did not when it was asked for; undefined when there is none. */
function findChange(asked: Affected, now: Affected | undefined): string | undefined {
  if (!now) return undefined;
  const shown = new Set([...asked.removed, ...asked.overwritten]);
  const added = [...now.removed, ...now.overwritten].find((path) => !shown.has(path));
  if (added !== undefined) return `${added} has changed since the question`;
  return now.count > asked.count ? 'more files have changed since the question' : undefined;
}

/**
 * Restores workspaces. A restore that would remove or overwrite files has to be confirmed when other tokens have run
 * commands in the workspace since the checkpoint: the files may be theirs.
 */
export class Restores {
  readonly #checkpoints: WorkspaceCheckpoints;
  readonly #registry: CommandRegistry;
  readonly #confirmations: Confirmations;
  readonly #desk: GateDesk;

  constructor(
    checkpoints: WorkspaceCheckpoints,
    registry: CommandRegistry,
    confirmations: Confirmations,
    desk: GateDesk,
  ) {
    this.#checkpoints = checkpoints;
    this.#registry = registry;
    this.#confirmations = confirmations;
    this.#desk = desk;
  }

  /**
   * Restores the workspace, at once or once it is confirmed.
   * @throws AdapterError COMMAND_DENIED, and the errors of `Checkpoints.restore`
   */
  async restore(request: Request<'restore_workspace'>, caller: Caller): Promise<Answer<'restore_workspace'>> {
    const { principal } = caller;
    const checkpoints = this.#checkpoints.of(principal);
    const question = await this.#judge(request, principal);
    if (!question) return checkpoints.restore(request, principal);
    const action = restoreAction({
      request,
      question,
      caller,
      directory: checkpoints.workspace,
      judge: () => this.#judge(request, principal),
      restore: () => checkpoints.restore(request, principal),
    });
    const asked = await this.#confirmations.stop(action);
    if ('pending' in asked) return { ...unrestored(request, question), ...asked.pending };
    const { restored } = asked.answer;
    // An approved restore has its result.
    if (!restored) throw new Error('a confirmed restore has no result');
    return restored;
  }

  /** Returns the question, or undefined for a restore that needs none. */
  async #judge(request: Request<'restore_workspace'>, principal: Principal): Promise<RestoreQuestion | undefined> {
    const { isEnforced, confirmingPolicy } = this.#desk.settings();
    if (!isEnforced) return undefined;
    const affected = await this.#findAffected(request, principal);
    if (affected.others.length === 0 || affected.count === 0) return undefined;
    const question = verdictOn(request, affected, confirmingPolicy);
    const { command, args } = question.request;
    this.#desk.note(question.verdict, { session: undefined, principal }, { command, args });
    return question.verdict.action === 'allow' ? undefined : question;
  }

  /** Finds which files a restore would take, and whose they may be. */
  async #findAffected(request: Request<'restore_workspace'>, principal: Principal): Promise<Affected> {
    const { checkpoint_id: id, paths } = request;
    const checkpoints = this.#checkpoints.of(principal);
    const { checkpoints: known } = await checkpoints.list(principal);
    const since = known.find((each) => each.checkpoint_id === id)?.created_at;
    const others = since === undefined ? [] : this.#registry.othersActiveSince(principal, Date.parse(since));
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

const unrestored = (
  { checkpoint_id }: Request<'restore_workspace'>,
  { affected: { removed } }: RestoreQuestion,
): Answer<'restore_workspace'> => ({
  checkpoint_id,
  restored: [],
  restored_count: 0,
  removed: [],
  removed_count: 0,
  skipped: [],
  skipped_count: 0,
  undo_checkpoint_id: null,
  would_remove: [...removed],
});
