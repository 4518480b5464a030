import { BoundedMap } from '../../core/bounded-map.js';
import type { Principal } from '../../core/principal.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import { confirmInstead, decide, type Policy, type PolicyVerdict } from '../../core/policy/policy.js';
import type { CommandClass, PolicyFacts } from '../../core/policy/model.js';
import { findUsedVariables, readShownVariables, type ShownVariable } from '../../core/policy/words/saved-state.js';
import type { Answer, CommandRequest, Request } from '../../core/protocol/requests.js';
import type { JudgedPlace } from '../approval-coverage.js';
import type { Caller } from '../registry/caller.js';
import { judgedCommands } from '../registry/command-record.js';
import type { SessionRecord } from '../registry/session-registry.js';
import { decideHere } from './decide-here.js';
import {
  type ApprovalGuard,
  type CheckpointGuard,
  type GateDesk,
  type GateQuestion,
  type SyntaxGuard,
  type VerdictPlace,
} from './gate-options.js';
import { isBusy, typingIn } from './session-facts.js';
import type { TypingGate } from './typing-gate.js';

/** Most texts whose verdicts are kept for one place. */
const MAX_TEXTS = 32;
/** Longest text whose verdict is kept, in characters. */
const MAX_CHARACTERS = 1_000;

/** Verdicts by text. */
interface Known {
  readonly policy: Policy;
  readonly verdicts: Map<string, PolicyVerdict>;
}

/**
 * Decides on commands, and remembers the verdicts that depend on nothing but the text and the facts: a client that watches a
 * machine sends the same few commands all the time. Verdicts on files are not kept, because files change.
 */
export class KnownVerdicts {
  /** By the facts, which `SessionFacts` gives again only while they hold. */
  readonly #known = new WeakMap<PolicyFacts, Known>();

  /** Decides on a request with what lies on this machine. */
  decide(policy: Policy, request: PolicyRequest, facts: PolicyFacts): PolicyVerdict {
    const { command, args, env, stdin, stdin_stream: isStreamed } = request;
    const isPlain = !args && !env && stdin === undefined && isStreamed !== true && command.length <= MAX_CHARACTERS;
    if (!isPlain) return decideHere(policy, request, facts);
    const { verdicts } = this.#of(policy, facts);
    const known = verdicts.get(command);
    if (known) return known;
    const verdict = decideHere(policy, request, facts);
    if (verdict.paths.length > 0 || verdict.repositories.length > 0) return verdict;
    verdicts.set(command, verdict);
    return verdict;
  }

  #of(policy: Policy, facts: PolicyFacts): Known {
    const known = this.#known.get(facts);
    if (known?.policy === policy) return known;
    const fresh: Known = { policy, verdicts: new BoundedMap(MAX_TEXTS) };
    this.#known.set(facts, fresh);
    return fresh;
  }
}

export const placeOf = (
  request: CommandRequest,
  session: SessionRecord | undefined,
  facts: PolicyFacts,
  verdict: PolicyVerdict,
): JudgedPlace => ({
  directory: facts.directories.length === 1 ? facts.directories[0] : undefined,
  shell: facts.shell,
  sandbox: session?.sandbox ?? request.sandbox,
  isOnTerminal: request.tty === true,
  sessionId: session?.id,
  doubt: findDoubt(request, facts, verdict),
});

/** Finds a name in a command that has another meaning in the session than on the machine. */
function findDoubt({ command, args }: CommandRequest, facts: PolicyFacts, verdict: PolicyVerdict) {
  if (facts.areNamesUnknown) return 'the aliases and functions of its session are not known';
  if (facts.isPathChanged) return 'PATH was changed in its session';
  const names = [
    ...(args ? [] : command.split(/[\s;&|()<>"'\\]+/)),
    ...verdict.commands.flatMap(({ program }) => program ?? []),
  ];
  const name = names.find((word) => facts.aliases.has(word) || facts.functions.has(word));
  return name === undefined ? undefined : `${name} is an alias or a function in its session`;
}

/** Returns a check that a session is idle, and that nothing has run in it since. Without a session, nothing can. */
function unchanged(session: SessionRecord | undefined): () => boolean {
  const commandCount = session?.session.commandCount;
  return () => !session || (!isBusy(session) && session.session.commandCount === commandCount);
}

/** The variables that a command reads from its session, with their values at one moment. */
export interface UsedValues {
  readonly names: readonly string[];
  /** Those that are set; undefined when the shell cannot show them. */
  readonly shown: ReadonlyMap<string, ShownVariable> | undefined;
  /** It may read others as well. */
  readonly hasOthers: boolean;
  /** Files that the command accesses with these values. */
  readonly paths: PolicyVerdict['paths'];
  readonly scripts: PolicyVerdict['scripts'];
}

/** For a command whose meaning depends on no variable. */
const NONE: UsedValues = { names: [], shown: new Map(), hasOthers: false, paths: [], scripts: [] };

/** Asks the shell of a session for the variables that a command reads, and computes where the command leads with them. */
async function lookAtValues(
  policy: Policy,
  request: PolicyRequest,
  facts: PolicyFacts,
  session: SessionRecord | undefined,
): Promise<UsedValues> {
  if (!session || request.args) return NONE;
  const { names: read, hasOthers } = findUsedVariables(request.command, facts);
  const names = read.filter((name) => request.env?.[name] === undefined);
  if (names.length === 0) return { ...NONE, hasOthers };
  const shown = await readValues(session, names);
  const variables = new Map(
    [...(shown ?? [])].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]])),
  );
  const { paths, scripts } = decide(policy, request, { ...facts, variables });
  return { names, shown, hasOthers, paths, scripts };
}

/** The variables of an idle shell that are set; undefined when the shell cannot show them. */
export async function readValues({ session }: SessionRecord, names: readonly string[]): Promise<UsedValues['shown']> {
  const { shell } = session.shell.installed;
  const state = shell.showsVariables ? await session.readState(names) : undefined;
  return state === undefined ? undefined : readShownVariables(state);
}

/** Longest value in a message, in characters. */
const MAX_VALUE = 60;

/** Describes a variable with another value than before; undefined when there is none. */
export function findChangedValue(names: readonly string[], before: Shown, now: Shown): string | undefined {
  const name = names.find((each) => before.get(each)?.text !== now.get(each)?.text);
  return name === undefined
    ? undefined
    : `$${name} was ${describe(before.get(name))} and is ${describe(now.get(name))} now`;
}

type Shown = NonNullable<UsedValues['shown']>;

function describe(variable: ShownVariable | undefined): string {
  if (!variable) return 'not set';
  const text = variable.value ?? variable.text;
  return `'${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text}'`;
}

/** Undefined for an allowed request. A denied one throws COMMAND_DENIED instead. */
type Judgement = GateQuestion | undefined;

/**
 * The gate that every command of every transport passes before anything of it runs, and typed text too. It returns a
 * question for what has to be confirmed, and is called again after the confirmation.
 */
export class CommandGate {
  readonly #desk: GateDesk;
  readonly #checkpoints: CheckpointGuard;
  readonly #approvals: ApprovalGuard;
  readonly #syntax: SyntaxGuard;
  /** Pending decisions: those of one session are made in the order of its requests. */
  readonly #pending = new WeakMap<SessionRecord, Promise<unknown>>();
  /** Decides on text that is typed into running commands. */
  readonly typing: TypingGate;
  /** Classes of judged requests. */
  readonly #classes = new WeakMap<object, CommandClass>();
  readonly #verdicts = new KnownVerdicts();

  constructor(
    desk: GateDesk,
    checkpoints: CheckpointGuard,
    approvals: ApprovalGuard,
    syntax: SyntaxGuard,
    typing: TypingGate,
  ) {
    this.#desk = desk;
    this.#checkpoints = checkpoints;
    this.#approvals = approvals;
    this.#syntax = syntax;
    this.typing = typing;
  }

  /**
   * Decides on a command, synchronously where possible. Saves the workspace where the policy requires a checkpoint. A
   * remembered approval takes the place of a confirmation.
   * @throws AdapterError COMMAND_DENIED
   */
  admit(
    request: CommandRequest,
    session: SessionRecord | undefined,
    caller: Pick<Caller, 'principal'>,
  ): Judgement | Promise<Judgement> {
    const place = { session, principal: caller.principal };
    const secure = (question: Judgement) => {
      const isSaved = question?.verdict.action === 'checkpoint';
      return isSaved ? this.#secure(question, session, caller) : this.#checkSyntax(question, request, place);
    };
    return this.#admit(request, session, caller, (question) => {
      const secured = secure(question);
      return secured instanceof Promise
        ? secured.then((known) => this.#recall(known, session, caller))
        : this.#recall(secured, session, caller);
    });
  }

  /**
   * Decides again on a command that was confirmed. Whether to save the workspace was decided with the confirmation.
   * @throws AdapterError COMMAND_DENIED
   */
  admitConfirmed(
    request: CommandRequest,
    session: SessionRecord | undefined,
    caller: Pick<Caller, 'principal'>,
  ): Judgement | Promise<Judgement> {
    return this.#admit(request, session, caller, (question) =>
      question?.verdict.action === 'checkpoint'
        ? question
        : this.#checkSyntax(question, request, { session, principal: caller.principal }),
    );
  }

  #admit(
    request: CommandRequest,
    session: SessionRecord | undefined,
    { principal }: Pick<Caller, 'principal'>,
    secure: (question: Judgement) => Judgement | Promise<Judgement>,
  ): Judgement | Promise<Judgement> {
    const { isEnforced, policy } = this.#desk.settings();
    if (!isEnforced) {
      // The command's effect on the session's names remains unknown.
      if (session) this.#desk.facts.forget(session);
      return undefined;
    }
    const typing = typingIn(session, request.tty);
    const gather = () => this.#desk.facts.of({ session, principal, typing }, request.cwd, false);
    const earlier = session && this.#pending.get(session);
    const facts = earlier ? earlier.then(gather) : gather();
    const judge = (known: PolicyFacts) => {
      const question = this.#judge(policy, request, known, { session, principal });
      return secure(question && { ...question, place: placeOf(request, session, known, question.verdict) });
    };
    const judged = facts instanceof Promise ? facts.then(judge) : judge(facts);
    if (session && judged instanceof Promise) remember(this.#pending, session, judged);
    return judged;
  }

  /** Checks whether the shell rejects a text that the policy cannot parse. */
  #checkSyntax(
    question: Judgement,
    request: CommandRequest,
    { session, principal }: VerdictPlace,
  ): Judgement | Promise<Judgement> {
    if (question?.verdict.isUnparsable !== true) return question;
    return this.#syntax.refusal(request, session, principal).then((refused) => ({ ...question, refused }));
  }

  /** Answers a question by a remembered approval, if there is one. */
  #recall(
    question: Judgement,
    session: SessionRecord | undefined,
    { principal }: Pick<Caller, 'principal'>,
  ): Judgement | Promise<Judgement> {
    if (!question?.place || question.saved || question.refused) return question;
    const { request, verdict, place } = question;
    const recalled = this.#approvals.admit({ request, verdict, place }, principal, unchanged(session));
    return recalled ? recalled.then((saved) => ({ ...question, saved })) : question;
  }

  /** Saves the workspace, or requires a confirmation if that is not possible. */
  async #secure(
    question: Judgement,
    session: SessionRecord | undefined,
    { principal }: Pick<Caller, 'principal'>,
  ): Promise<Judgement> {
    if (!question) return undefined;
    const { request, verdict } = question;
    const saved =
      session && isBusy(session)
        ? { reason: 'the session runs another command, so that no checkpoint can be made just before this one' }
        : await this.#checkpoints.secure(request, verdict, principal);
    if (!('reason' in saved)) return { ...question, saved };
    return { ...question, verdict: confirmInstead(verdict, saved.reason) };
  }

  /** Returns the gate's verdict on a command. Nothing is run, and no confirmation is requested. */
  async check(
    request: Request<'check_command'>,
    session: SessionRecord | undefined,
    principal: Principal,
  ): Promise<Answer<'check_command'>> {
    const { policy, isEnforced } = this.#desk.settings();
    const typing = typingIn(session, false);
    const facts = await this.#desk.facts.of({ session, principal, typing }, request.cwd, true);
    const { action, class: commandClass, reasons, commands, isUnparsable } = decideHere(policy, request, facts);
    const refused =
      action === 'confirm' && isUnparsable ? await this.#syntax.refusal(request, session, principal) : undefined;
    if (refused) {
      const why = refused.warnings.map(({ message }) => message);
      return { action: 'allow', class: 'read', reasons: why, commands: [], enforced: isEnforced };
    }
    return {
      action,
      class: commandClass,
      reasons: [...reasons],
      commands: judgedCommands(commands),
      enforced: isEnforced,
    };
  }

  /** Returns the variables that a command reads from its session, as they are now. */
  async valuesOf(
    request: CommandRequest,
    session: SessionRecord | undefined,
    principal: Principal,
  ): Promise<UsedValues> {
    const facts = await this.#desk.facts.of({ session, principal }, request.cwd, false);
    return lookAtValues(this.#desk.settings().policy, request, facts, session);
  }

  /** Class of the last verdict on a request; undefined when it was not judged. */
  classOf(request: object): CommandClass | undefined {
    return this.#classes.get(request);
  }

  #judge(policy: Policy, request: PolicyRequest, facts: PolicyFacts, place: VerdictPlace): Judgement {
    const { session } = place;
    const verdict = session ? this.#verdicts.decide(policy, request, facts) : decideHere(policy, request, facts);
    const { command, args } = request;
    this.#classes.set(request, verdict.class);
    if (session && verdict.changesNames) this.#desk.facts.forget(session);
    if (verdict.takesTyping) this.typing.noteInteractive(request);
    this.#desk.note(verdict, place, { command, args });
    if (verdict.action === 'confirm' || verdict.action === 'checkpoint')
      return { request, verdict, pass: () => undefined };
    return undefined;
  }
}

/** Keeps a decision until it is made. */
function remember(
  pending: WeakMap<SessionRecord, Promise<unknown>>,
  session: SessionRecord,
  judged: Promise<unknown>,
): void {
  const done = judged.catch(() => undefined);
  pending.set(session, done);
  void done.then(() => {
    if (pending.get(session) === done) pending.delete(session);
  });
}
