import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { z } from 'zod';

import type { Principal } from '../core/principal.js';
import {
  CONFIRMATION_MODES,
  type ConfirmationMode,
  type ConfirmationWays,
  isAsStrict,
  wayOf,
} from '../core/confirmation.js';
import { covers, findRuleProblem, type RememberedApproval, ruleOf } from '../core/remembered-approval.js';
import { HOUR_MS, type RememberScope } from '../core/remember-scopes.js';
import { AdapterError } from '../core/errors.js';
import { approvalIdFrom, ID_BYTES } from '../core/ids.js';
import type { Log } from '../core/log.js';
import type { TestedRule } from '../core/policy/rules.js';
import { COMMAND_CLASSES } from '../core/policy/model.js';
import type { RememberedInfo, RememberedSummary } from '../core/protocol/confirmations.js';
import { writePrivateFile } from '../engine/system/local-files.js';
import { randomBytes } from '../engine/system/random.js';
import { type CommandCoverage, coverageOf, type JudgedRequest, type Machine } from './approval-coverage.js';

/** An approval of the scope `always`, with its rule. */
interface StoredApproval extends RememberedApproval {
  readonly scope: 'always';
  readonly rule: TestedRule;
}

/** Version of the format. */
const VERSION = 1;

const party = z.strictObject({ id: z.string(), name: z.string() });
const texts = z.array(z.string());

const storedApproval = z.strictObject({
  id: z.string(),
  requested_by: party,
  approved_by: party,
  mode: z.enum(CONFIRMATION_MODES),
  remembered_at: z.iso.datetime(),
  directory: z.string(),
  pattern: z.string(),
  rule: z.strictObject({
    action: z.literal('allow'),
    program: texts,
    regex: z.string(),
    path: z.exactOptional(texts),
    match: texts,
    not_match: texts,
    reason: z.string(),
  }),
  form: z.string(),
  reasons: texts,
  classes: z.array(z.enum(COMMAND_CLASSES)),
});

const storedApprovals = z.strictObject({ version: z.literal(VERSION), approvals: z.array(storedApproval) });

/** Path of the file with approvals of the scope `always` within the state directory. */
export const approvalFileIn = (stateDirectory: string): string => join(stateDirectory, 'approvals.json');

/** Content of the file: approvals, or the problem because of which none of them counts. */
interface StoredApprovals {
  readonly approvals: readonly StoredApproval[];
  readonly problem: string | undefined;
}

/** Reads the file and runs the tests of its rules. A missing file contains none. */
export function readApprovals(file: string): StoredApprovals {
  const damaged = (problem: string) => ({ approvals: [], problem: `${file}: ${problem}` });
  try {
    if ((statSync(file).mode & 0o077) !== 0) return damaged('other users can read or change it: chmod 600 is needed');
    const read = storedApprovals.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!read.success) return damaged(`is damaged: ${z.prettifyError(read.error)}`);
    const approvals = read.data.approvals.map(fromStored);
    for (const { id, rule, directory } of approvals) {
      const problem = findRuleProblem(rule, directory);
      if (problem !== undefined) return damaged(`the approval ${id} is damaged: ${problem}`);
    }
    return { approvals, problem: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { approvals: [], problem: undefined };
    // Invalid JSON, or an unreadable file: the message says which.
    return damaged(`is damaged: ${(error as Error).message}`);
  }
}

/**
 * Writes the file, readable by this user only; it appears complete or not at all.
 * @throws AdapterError APPROVALS_UNAVAILABLE when it cannot be written
 */
function writeApprovals(file: string, approvals: readonly StoredApproval[]): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writePrivateFile(file, `${JSON.stringify({ version: VERSION, approvals: approvals.map(toStored) }, null, 2)}\n`);
  } catch (error) {
    const message = `remembered approvals cannot be written to ${file}: ${(error as Error).message}`;
    throw new AdapterError('APPROVALS_UNAVAILABLE', message, { cause: error, details: { file } });
  }
}

const fromStored = (stored: z.output<typeof storedApproval>): StoredApproval => ({
  ...stored,
  scope: 'always',
  requester: stored.requested_by,
  approver: stored.approved_by,
  sessionId: null,
  rememberedAt: new Date(stored.remembered_at),
  expiresAt: null,
});

const toStored = (approval: StoredApproval): z.input<typeof storedApproval> => ({
  id: approval.id,
  requested_by: approval.requester,
  approved_by: approval.approver,
  mode: approval.mode,
  remembered_at: approval.rememberedAt.toISOString(),
  directory: approval.directory,
  pattern: approval.pattern,
  rule: storedApproval.shape.rule.parse(approval.rule),
  form: approval.form,
  reasons: [...approval.reasons],
  classes: [...approval.classes],
});

/**
 * Checks that a principal may have an approval remembered. Programs that connect without a token may not have it
 * remembered for good, because commands could.
 * @throws AdapterError FORBIDDEN
 */
function assertMayRemember(scope: RememberScope, { role, isLocalPeer }: Principal): void {
  const isOperator = (role === 'operator' || role === 'admin') && !isLocalPeer;
  if (scope !== 'always' || isOperator) return;
  const why = isLocalPeer
    ? 'programs that connect without a token cannot have it remembered for good, because commands could'
    : `the role ${role} cannot`;
  const message = `remember: "always" needs a token of the role operator or admin: ${why}; "session" and "hour" are allowed`;
  throw new AdapterError('FORBIDDEN', message, { details: { role, needs: ['operator', 'admin'] } });
}

/** The error for an approval that cannot be remembered. The confirmation stays open. */
export const unrememberable = (why: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `the approval cannot be remembered: ${why}; approve it without \`remember\``, {
    details: { field: 'remember' },
  });

/** The error for a requester with too many remembered approvals. */
const tooManyApprovals = (max: number): AdapterError =>
  new AdapterError('INVALID_REQUEST', `${max} approvals are remembered for this token already: revoke some of them`, {
    details: { field: 'remember', max_remembered: max },
  });

/** The error for an unknown id: the same for every cause. */
const approvalNotFound = (id: string): AdapterError =>
  new AdapterError(
    'APPROVAL_NOT_FOUND',
    `no approval ${id} is remembered: it was revoked, has expired, or was never there`,
    { details: { approval_id: id } },
  );

/** The error for a file of approvals that cannot be used. */
const unavailable = (problem: string, file: string): AdapterError =>
  new AdapterError('APPROVALS_UNAVAILABLE', `${problem}; repair or remove the file, and start the daemon again`, {
    details: { file },
  });

/** Maximum number of remembered approvals per requester. */
export const MAX_REMEMBERED = 64;

/** What happened to a remembered approval, for logs. */
export interface ApprovalRecord {
  readonly event: 'remembered' | 'used' | 'revoked' | 'expired';
  readonly approval: RememberedApproval;
  readonly by?: Principal;
  /** For the event `used`: the text of the command, and its session. */
  readonly command?: string;
  readonly sessionId?: string | undefined;
  /** Reason of an end that no principal has caused. */
  readonly why?: string;
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
  readonly #machine: Machine;
  /** Path of the file with the approvals that survive the daemon. */
  readonly #file: string;
  readonly #ways: () => ConfirmationWays;
  readonly #observe: (record: ApprovalRecord) => void;
  readonly #kept = new Map<string, RememberedApproval | StoredApproval>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Why approvals of the scope `always` do not count; undefined when they do. */
  readonly problem: string | undefined;

  /** Reads the file. A damaged one is logged: then no approval of the scope `always` counts or can be added. */
  constructor(
    machine: Machine,
    file: string,
    ways: () => ConfirmationWays,
    observe: (record: ApprovalRecord) => void,
    log: Log,
  ) {
    this.#machine = machine;
    this.#file = file;
    this.#ways = ways;
    this.#observe = observe;
    const { approvals, problem } = readApprovals(file);
    this.problem = problem;
    if (problem !== undefined) log.error('remembered approvals do not count', { problem });
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
    const coverage = coverageOf(judged, this.#machine);
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
    const coverage = coverageOf(judged, this.#machine);
    if ('refusal' in coverage) return undefined;
    const needed = wayOf(judged.verdict, this.#ways());
    return own.find(
      (approval) => isAsStrict(approval.mode, needed) && covers(approval, coverage) && isInRule(approval, coverage),
    );
  }

  /** Notes that a command runs because of an approval. */
  noteUse(approval: RememberedApproval, { request, place: { sessionId } }: JudgedRequest): void {
    const command = [request.command, ...(request.args ?? [])].join(' ');
    this.#observe({ event: 'used', approval, command, sessionId });
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
    this.#observe({ event: 'revoked', approval, by });
    return approval;
  }

  /** Handles the end of a session: its approvals end. */
  endSession(sessionId: string): void {
    for (const approval of this.#all().filter((kept) => kept.sessionId === sessionId)) {
      this.#expire(approval, 'its session has ended');
    }
  }

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
    if (this.problem !== undefined) throw unavailable(this.problem, this.#file);
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
    this.#observe({ event: 'remembered', approval });
    return approval;
  }

  #write(approvals: readonly StoredApproval[]): void {
    if (this.problem !== undefined) throw unavailable(this.problem, this.#file);
    writeApprovals(this.#file, approvals);
  }

  #expire(approval: RememberedApproval, why: string): void {
    if (this.#forget(approval)) this.#observe({ event: 'expired', approval, why });
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

/** Renders a remembered approval for the answer to the request that caused it. */
export const rememberedOf = ({ id, scope, pattern, expiresAt }: RememberedApproval): RememberedSummary => ({
  id,
  scope,
  pattern,
  expires_at: expiresAt?.toISOString() ?? null,
});

/** Renders a remembered approval for a list. */
export const rememberedInfoOf = (approval: RememberedApproval): RememberedInfo => ({
  ...rememberedOf(approval),
  working_directory: approval.directory,
  session_id: approval.sessionId,
  classes: [...approval.classes],
  requested_by: approval.requester.name,
  approved_by: approval.approver.name,
  remembered_at: approval.rememberedAt.toISOString(),
});
