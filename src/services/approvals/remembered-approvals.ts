import type { Principal } from '../../core/access/principal.js';
import { type ConfirmationMode, type ConfirmationWays, isAsStrict, wayOf } from '../../core/confirmation/modes.js';
import { covers, HOUR_MS, type RememberedApproval, type RememberScope } from '../../core/confirmation/remembered.js';
import { findRuleProblem, ruleOf } from '../../core/confirmation/remembered-rule.js';
import { approvalIdFrom, ID_BYTES } from '../../core/ids.js';
import type { Log } from '../../core/logging/log.js';
import { randomBytes } from '../../engine/system/random.js';
import { readApprovals, type StoredApproval, writeApprovals } from './approval-file.js';
import { type CommandCoverage, coverageOf, type JudgedRequest, type Machine } from './coverage.js';
import { approvalNotFound, assertMayRemember, tooManyApprovals, unavailable, unrememberable } from './refusals.js';

/** Maximum number of remembered approvals per requester. */
export const MAX_REMEMBERED = 64;

/** What happened to a remembered approval, for logs. */
export interface ApprovalRecord {
  readonly event: 'remembered' | 'used' | 'revoked' | 'expired';
  readonly approval: RememberedApproval;
  /** The principal that revoked it. */
  readonly by?: Principal;
  /** For the event `used`: the text of the command, and its session. */
  readonly command?: string;
  readonly sessionId?: string | undefined;
  /** Reason of an end that no principal has caused. */
  readonly why?: string;
}

/** Dependencies of `RememberedApprovals`. */
export interface RememberedApprovalsOptions {
  readonly machine: Machine;
  /** Path of the file with the approvals that survive the daemon. */
  readonly file: string;
  readonly ways: () => ConfirmationWays;
  readonly observe: (record: ApprovalRecord) => void;
  readonly log: Log;
}

/** An approval that is to be remembered once it is given. */
export interface RememberWish {
  readonly judged: JudgedRequest;
  readonly scope: RememberScope;
  readonly requester: Principal;
  readonly approver: Principal;
  readonly mode: ConfirmationMode;
}

/** Approvals that count for later commands: those of sessions and hours in memory, the others in a file, too. */
export class RememberedApprovals implements Disposable {
  readonly #options: RememberedApprovalsOptions;
  readonly #kept = new Map<string, RememberedApproval | StoredApproval>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Why approvals of the scope `always` do not count; undefined when they do. */
  readonly problem: string | undefined;

  /** Reads the file. A damaged one is logged: then no approval of the scope `always` counts or can be added. */
  constructor(options: RememberedApprovalsOptions) {
    this.#options = options;
    const { approvals, problem } = readApprovals(options.file);
    this.problem = problem;
    if (problem !== undefined) options.log.error('remembered approvals do not count', { problem });
    for (const approval of approvals) this.#kept.set(approval.id, approval);
  }

  /**
   * Remembers an approval, in place of an earlier one that covers the same.
   * @throws AdapterError INVALID_REQUEST, FORBIDDEN, APPROVALS_UNAVAILABLE
   */
  remember(wish: RememberWish): RememberedApproval {
    const { scope, requester, approver, mode, judged } = wish;
    assertMayRemember(scope, approver);
    const { sessionId } = judged.place;
    if (scope === 'session' && sessionId === undefined)
      throw unrememberable('the command runs without a session: `remember: "hour"` would cover it');
    const coverage = coverageOf(judged, this.#options.machine);
    if ('refusal' in coverage) throw unrememberable(coverage.refusal);
    const rule = scope === 'always' ? this.#writeRule(coverage) : undefined;
    const { form, pattern, reasons, classes, directory } = coverage;
    const now = new Date();
    const approval: RememberedApproval = {
      ...{ form, pattern, reasons, classes, directory, scope, mode },
      id: approvalIdFrom(randomBytes(ID_BYTES)),
      requester: { id: requester.id, name: requester.name },
      approver: { id: approver.id, name: approver.name },
      sessionId: scope === 'session' ? (sessionId ?? null) : null,
      rememberedAt: now,
      expiresAt: scope === 'hour' ? new Date(now.getTime() + HOUR_MS) : null,
    };
    const replaced = this.#all().filter((kept) => isSame(kept, approval));
    const own = this.#all().filter((kept) => kept.requester.id === requester.id);
    if (own.length - replaced.length >= MAX_REMEMBERED) throw tooManyApprovals(MAX_REMEMBERED);
    return this.#keep(rule ? { ...approval, scope: 'always', rule } : approval, replaced);
  }

  /**
   * Finds an approval that covers a command of a principal.
   * @returns undefined when the command has to be confirmed
   */
  find(judged: JudgedRequest, requester: Principal): RememberedApproval | undefined {
    const own = this.#all().filter(
      ({ requester: { id }, sessionId }) =>
        id === requester.id && (sessionId === null || sessionId === judged.place.sessionId),
    );
    if (own.length === 0) return undefined;
    const coverage = coverageOf(judged, this.#options.machine);
    if ('refusal' in coverage) return undefined;
    const needed = wayOf(judged.verdict, this.#options.ways());
    return own.find(
      (approval) => isAsStrict(approval.mode, needed) && covers(approval, coverage) && isInRule(approval, coverage),
    );
  }

  /** Notes that a command runs because of an approval. */
  noteUse(approval: RememberedApproval, { request, place: { sessionId } }: JudgedRequest): void {
    const command = [request.command, ...(request.args ?? [])].join(' ');
    this.#options.observe({ event: 'used', approval, command, sessionId });
  }

  /** True while an approval counts. */
  isKept({ id }: RememberedApproval): boolean {
    return this.#all().some((approval) => approval.id === id);
  }

  /** Approvals visible to a principal, the oldest first: its own ones, and all for operators. */
  seenBy(principal: Principal): readonly RememberedApproval[] {
    return this.#all().filter((approval) => isVisible(approval, principal));
  }

  /**
   * Revokes an approval.
   * @throws AdapterError APPROVAL_NOT_FOUND, APPROVALS_UNAVAILABLE
   */
  revoke(id: string, by: Principal): RememberedApproval {
    const approval = this.seenBy(by).find((kept) => kept.id === id);
    if (!approval) throw approvalNotFound(id);
    if ('rule' in approval) this.#write(this.#stored().filter((stored) => stored.id !== id));
    this.#forget(approval);
    this.#options.observe({ event: 'revoked', approval, by });
    return approval;
  }

  /** Handles the end of a session: its approvals end. */
  endSession(sessionId: string): void {
    for (const approval of this.#all().filter((kept) => kept.sessionId === sessionId)) {
      this.#expire(approval, 'its session has ended');
    }
  }

  /** Ends all timers. */
  [Symbol.dispose](): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** All that count now. A timer may be late. */
  #all(): readonly (RememberedApproval | StoredApproval)[] {
    for (const approval of this.#kept.values()) {
      if (approval.expiresAt && Date.now() >= approval.expiresAt.getTime()) this.#expire(approval, 'its time is up');
    }
    return [...this.#kept.values()];
  }

  #stored(): readonly StoredApproval[] {
    return [...this.#kept.values()].filter((approval) => 'rule' in approval);
  }

  #writeRule({ rule: words }: CommandCoverage): StoredApproval['rule'] {
    if (this.problem !== undefined) throw unavailable(this.problem, this.#options.file);
    if (!words) {
      throw unrememberable(
        'several commands, redirections or assignments cannot be written as a rule: `session` and `hour` can cover them',
      );
    }
    const rule = ruleOf(words);
    const problem = findRuleProblem(rule, words.directory);
    if (problem !== undefined) throw unrememberable(`no rule can be written for it: ${problem}`);
    return rule;
  }

  #keep(approval: RememberedApproval | StoredApproval, replaced: readonly RememberedApproval[]): RememberedApproval {
    const isOld = ({ id }: RememberedApproval) => replaced.some((old) => old.id === id);
    if ('rule' in approval) this.#write([...this.#stored().filter((stored) => !isOld(stored)), approval]);
    for (const old of replaced) this.#expire(old, 'it was remembered again');
    this.#kept.set(approval.id, approval);
    if (approval.expiresAt) {
      const expire = () => {
        this.#expire(approval, 'its time is up');
      };
      this.#timers.set(approval.id, setTimeout(expire, HOUR_MS).unref());
    }
    this.#options.observe({ event: 'remembered', approval });
    return approval;
  }

  #write(approvals: readonly StoredApproval[]): void {
    if (this.problem !== undefined) throw unavailable(this.problem, this.#options.file);
    writeApprovals(this.#options.file, approvals);
  }

  #expire(approval: RememberedApproval, why: string): void {
    if (this.#forget(approval)) this.#options.observe({ event: 'expired', approval, why });
  }

  #forget({ id }: RememberedApproval): boolean {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    return this.#kept.delete(id);
  }
}

/** Whether two approvals cover the same for the same requester and time. */
const isSame = (a: RememberedApproval, b: RememberedApproval): boolean =>
  a.form === b.form && a.requester.id === b.requester.id && a.scope === b.scope && a.sessionId === b.sessionId;

/** Whether the rule of a stored approval applies. Others have none. */
const isInRule = (approval: RememberedApproval | StoredApproval, { rule: words }: CommandCoverage): boolean =>
  !('rule' in approval) ||
  (words !== undefined && findRuleProblem(approval.rule, words.directory, words.words) === undefined);

const isVisible = ({ requester }: RememberedApproval, { id, role }: Principal): boolean =>
  id === requester.id || role === 'operator' || role === 'admin';
