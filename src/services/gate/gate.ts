import type { Principal } from '../../core/access/principal.js';
import type { PolicyFacts } from '../../core/policy/model/facts.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspection.js';
import { confirmInstead, type Policy } from '../../core/policy/decision/policy.js';
import type { CommandClass } from '../../core/policy/model/classes.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { Command } from '../../engine/command/command.js';
import type { Caller } from '../registry/caller.js';
import { judgedCommands } from '../registry/judged-commands.js';
import type { ApprovalGuard, CheckpointGuard, GateQuestion, TypingGateOptions } from './gate-options.js';
import type { SyntaxGuard } from './syntax-guard.js';
import { decideHere } from './decide-here.js';
import { KnownVerdicts } from './known-verdicts.js';
import { judgementRecord, refuse } from './gate-verdicts.js';
import { placeOf, unchanged } from './judged-place.js';
import { isBusy, typingIn } from './session-facts.js';
import type { SessionRecord } from '../registry/session-registry.js';
import { lookAtValues, type UsedValues } from './used-values.js';
import type { Typed, TypedQuestion, TypingGate } from './typing-gate.js';

/** Dependencies of `CommandGate`. */
export interface GateOptions extends TypingGateOptions {
  readonly syntax: Pick<SyntaxGuard, 'refusal'>;
  readonly typing: TypingGate;
  readonly checkpoints: CheckpointGuard;
  readonly approvals: ApprovalGuard;
}

/** Undefined for an allowed request. A denied one throws COMMAND_DENIED instead. */
type Judgement = GateQuestion | undefined;

/**
 * The gate that every command of every transport passes before anything of it runs, and typed text too. It returns a
 * question for what has to be confirmed, and is called again after the confirmation.
 */
export class CommandGate {
  readonly #options: GateOptions;
  /** Pending decisions: those of one session are made in the order of its requests. */
  readonly #pending = new WeakMap<SessionRecord, Promise<unknown>>();
  readonly #typing: TypingGate;
  /** Classes of judged requests. */
  readonly #classes = new WeakMap<object, CommandClass>();
  readonly #verdicts = new KnownVerdicts();

  constructor(options: GateOptions) {
    this.#options = options;
    this.#typing = options.typing;
  }

  /**
   * Decides on a command, synchronously where possible. Saves the workspace where the policy requires a checkpoint. A
   * remembered approval takes the place of a confirmation.
   * @throws AdapterError COMMAND_DENIED
   */
  admit(
    request: Request<'execute_command'>,
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
    request: Request<'execute_command'>,
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
    request: Request<'execute_command'>,
    session: SessionRecord | undefined,
    { principal }: Pick<Caller, 'principal'>,
    secure: (question: Judgement) => Judgement | Promise<Judgement>,
  ): Judgement | Promise<Judgement> {
    const { isEnforced, policy } = this.#options.settings();
    if (!isEnforced) {
      // The command's effect on the session's names remains unknown.
      if (session) this.#options.facts.forget(session);
      return undefined;
    }
    const typing = typingIn(session, request.tty);
    const gather = () => this.#options.facts.of({ session, principal, typing }, request.cwd, false);
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
    request: Request<'execute_command'>,
    { session, principal }: { readonly session: SessionRecord | undefined; readonly principal: Principal },
  ): Judgement | Promise<Judgement> {
    if (question?.verdict.isUnparsable !== true) return question;
    return this.#options.syntax.refusal(request, session, principal).then((refused) => ({ ...question, refused }));
  }

  /** Answers a question by a remembered approval, if there is one. */
  #recall(
    question: Judgement,
    session: SessionRecord | undefined,
    { principal }: Pick<Caller, 'principal'>,
  ): Judgement | Promise<Judgement> {
    if (!question?.place || question.saved || question.refused) return question;
    const { request, verdict, place } = question;
    const recalled = this.#options.approvals.admit({ request, verdict, place }, principal, unchanged(session));
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
        : await this.#options.checkpoints.secure(request, verdict, principal);
    if (!('reason' in saved)) return { ...question, saved };
    return { ...question, verdict: confirmInstead(verdict, saved.reason) };
  }

  /** Returns the gate's verdict on a command. Nothing is run, and no confirmation is requested. */
  async check(
    request: Request<'check_command'>,
    session: SessionRecord | undefined,
    principal: Principal,
  ): Promise<Answer<'check_command'>> {
    const { policy, isEnforced } = this.#options.settings();
    const typing = typingIn(session, false);
    const facts = await this.#options.facts.of({ session, principal, typing }, request.cwd, true);
    const { action, class: commandClass, reasons, commands, isUnparsable } = decideHere(policy, request, facts);
    const refused =
      action === 'confirm' && isUnparsable
        ? await this.#options.syntax.refusal(request, session, principal)
        : undefined;
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
    request: Request<'execute_command'>,
    session: SessionRecord | undefined,
    principal: Principal,
  ): Promise<UsedValues> {
    const facts = await this.#options.facts.of({ session, principal }, request.cwd, false);
    return lookAtValues(this.#options.settings().policy, request, facts, session);
  }

  /**
   * Decides on text typed into the running command of a session.
   * @throws AdapterError COMMAND_DENIED
   */
  admitInput(session: SessionRecord, typed: Typed, principal: Principal): TypedQuestion | undefined {
    return this.#typing.admit(session, typed, principal);
  }

  /** Returns the line that typed text continues, with the text. */
  lineWith(session: SessionRecord, typed: Typed): string {
    return this.#typing.lineWith(session, typed);
  }

  /** Class of the last verdict on a request; undefined when it was not judged. */
  classOf(request: object): CommandClass | undefined {
    return this.#classes.get(request);
  }

  /** Notes the start of a request's command: from now on it gets the typed input that it was allowed. */
  noteStart(request: object, command: Command): void {
    this.#typing.noteStart(request, command);
  }

  #judge(
    policy: Policy,
    request: PolicyRequest,
    facts: PolicyFacts,
    { session, principal }: { readonly session: SessionRecord | undefined; readonly principal: Principal },
  ): Judgement {
    const verdict = session ? this.#verdicts.decide(policy, request, facts) : decideHere(policy, request, facts);
    const { command, args } = request;
    this.#classes.set(request, verdict.class);
    this.#options.audit.record({ command, args, ...judgementRecord(verdict, session, principal) });
    if (session && verdict.changesNames) this.#options.facts.forget(session);
    if (verdict.takesTyping) this.#typing.noteInteractive(request);
    if (verdict.action === 'confirm' || verdict.action === 'checkpoint')
      return { request, verdict, pass: () => undefined };
    refuse(verdict, session, this.#options.log);
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
