import { type AuditEvent, auditPrincipal, type AuditTrail } from '../core/audit/event.js';
import type { Principal } from '../core/access/principal.js';
import type { ErrorDetails } from '../core/errors.js';
import { AdapterError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { PolicyFacts } from '../core/policy/facts.js';
import type { PolicyRequest } from '../core/policy/inspect.js';
import { decide, type Policy, type PolicyVerdict } from '../core/policy/policy.js';
import {
  isHarmlessTyping,
  languageOf,
  startedLanguages,
  type TypedLanguage,
  unfinishedLine,
} from '../core/policy/typed-input.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import type { Caller } from './audience.js';
import type { SessionFacts } from './session-facts.js';
import type { SessionRecord } from './session-registry.js';

/** What the gate goes by. */
export interface GateSettings {
  /** Whether anything is stopped at all. */
  readonly isEnforced: boolean;
  readonly policy: Policy;
}

/** A command that somebody has to confirm. */
export interface ConfirmationQuestion {
  readonly request: PolicyRequest;
  readonly session: SessionRecord | undefined;
  readonly verdict: PolicyVerdict;
}

/**
 * Asks whoever is to confirm a command, and waits for the answer. This is the place for the ways to confirm: the client
 * itself, an operator, a reviewing model. A failure means no.
 */
export type ConfirmationPort = (question: ConfirmationQuestion) => Promise<'approved' | 'refused'>;

/** Nobody can confirm anything yet: what needs it does not run. */
export const nobodyConfirms: ConfirmationPort = () => Promise.resolve('refused');

/** Undefined when it is let in at once; rejects with COMMAND_DENIED. */
type Admission = Promise<void> | undefined;

/** What the gate is made of. */
export interface GateOptions {
  readonly settings: () => GateSettings;
  readonly facts: SessionFacts;
  readonly confirm: ConfirmationPort;
  readonly audit: AuditTrail;
  readonly log: Log;
}

/** The one gate: every command of every transport passes it before anything of it happens, and what is typed too. */
export class CommandGate {
  readonly #options: GateOptions;
  /** Judgements that are under way: those of one session come in the order of its requests. */
  readonly #pending = new WeakMap<SessionRecord, Promise<void>>();
  readonly #pendingInput = new WeakMap<SessionRecord, Promise<void>>();
  /** Typed text that is no finished line yet. */
  readonly #typed = new WeakMap<SessionRecord, string>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Lets a command pass, at once where that can be said at once.
   * @throws AdapterError COMMAND_DENIED
   */
  admit(
    request: Request<'execute_command'>,
    session: SessionRecord | undefined,
    { principal }: Pick<Caller, 'principal'>,
  ): Admission {
    const { isEnforced, policy } = this.#options.settings();
    if (!isEnforced) {
      // What it does to the session's names goes unseen.
      if (session) this.#options.facts.forget(session);
      return undefined;
    }
    const gather = () => this.#options.facts.of(session, request.cwd, false);
    const earlier = session && this.#pending.get(session);
    const facts = earlier ? earlier.then(gather) : gather();
    const judge = (known: PolicyFacts) => this.#judge(policy, request, session, principal, known);
    const admission = facts instanceof Promise ? facts.then(judge) : judge(facts);
    if (admission && session) remember(this.#pending, session, admission);
    return admission;
  }

  /** What the gate would say of a command. Nothing is run, nobody is asked. */
  async check(request: Request<'check_command'>, session: SessionRecord | undefined): Promise<Answer<'check_command'>> {
    const { policy, isEnforced } = this.#options.settings();
    const facts = await this.#options.facts.of(session, request.cwd, true);
    const { action, class: commandClass, reasons, commands } = decide(policy, request, facts);
    return {
      action,
      class: commandClass,
      reasons: [...reasons],
      commands: commands.map((command) => ({
        command: command.text,
        program: command.program ?? null,
        action: command.action,
        class: command.class,
        reasons: [...command.reasons],
      })),
      enforced: isEnforced,
    };
  }

  /**
   * Lets text pass that is typed into a session's terminal. What a shell or an interpreter reads there is a command.
   * @throws AdapterError COMMAND_DENIED: nothing was typed
   */
  admitInput(session: SessionRecord, data: string, principal: Principal): Admission {
    if (!this.#options.settings().isEnforced) return undefined;
    const earlier = this.#pendingInput.get(session);
    const judge = () => this.#judgeInput(session, data, principal);
    const admission = earlier ? earlier.then(judge) : judge();
    if (admission) remember(this.#pendingInput, session, admission);
    return admission;
  }

  /**
   * Lets variables pass that a session is opened with.
   * @throws AdapterError COMMAND_DENIED
   */
  async admitEnvironment(
    env: Readonly<Record<string, string>> | undefined,
    { principal }: Pick<Caller, 'principal'>,
  ): Promise<void> {
    const { isEnforced, policy } = this.#options.settings();
    if (!isEnforced || !env) return;
    const request = { command: ':', args: [], env };
    const facts = await this.#options.facts.of(undefined, undefined, false);
    const verdict = decide(policy, request, facts);
    const names = Object.keys(env);
    this.#options.audit.record({ ...judged(verdict, undefined, principal), details: { environment: names } });
    await this.#settle(request, undefined, verdict);
  }

  #judge(
    policy: Policy,
    request: PolicyRequest,
    session: SessionRecord | undefined,
    principal: Principal,
    facts: PolicyFacts,
  ): Admission {
    const verdict = decide(policy, request, facts);
    const { command, args } = request;
    this.#options.audit.record({ ...judged(verdict, session, principal), command, args });
    if (session && verdict.changesNames) this.#options.facts.forget(session);
    return verdict.action === 'allow' ? undefined : this.#settle(request, session, verdict);
  }

  /** Judges typed text together with the beginning of its line, and takes note of the line's new beginning. */
  #judgeInput(session: SessionRecord, data: string, principal: Principal): Admission {
    const text = (this.#typed.get(session) ?? '') + data;
    const language = languageOfInput(session);
    const accept = () => void this.#typed.set(session, unfinishedLine(text));
    // What stands in the line already was judged as it was typed.
    if (language === undefined || isHarmlessTyping(data)) {
      accept();
      return undefined;
    }
    const request: PolicyRequest =
      language === 'shell'
        ? { command: text.replaceAll('\r', '\n') }
        : { command: 'python3', args: ['-'], stdin: text };
    const verdict = decide(this.#options.settings().policy, request, this.#options.facts.whileRunning(session));
    // Without the text, its reasons included: it may be the answer to a question for a password.
    const { action, class: commandClass } = verdict;
    const shown = { action, class: commandClass, reasons: [] };
    this.#options.audit.record({
      ...judged(shown, session, principal),
      details: { typed_bytes: Buffer.byteLength(data) },
    });
    if (verdict.action !== 'allow') return this.#settle(request, session, verdict).then(accept);
    accept();
    return undefined;
  }

  async #settle(request: PolicyRequest, session: SessionRecord | undefined, verdict: PolicyVerdict): Promise<void> {
    if (verdict.action === 'allow') return;
    const question = { request, session, verdict };
    if (verdict.action === 'confirm' && (await this.#isConfirmed(question))) return;
    const { action, class: commandClass, reasons } = verdict;
    this.#options.log.warn('a command was denied', {
      action,
      class: commandClass,
      reasons,
      session_id: session?.id ?? null,
    });
    throw denial(verdict);
  }

  async #isConfirmed(question: ConfirmationQuestion): Promise<boolean> {
    try {
      return (await this.#options.confirm(question)) === 'approved';
    } catch (error) {
      this.#options.log.error('a command could not be confirmed', { error: String(error) });
      return false;
    }
  }
}

/** As what typed text is read: by what has the terminal now, or by what the running command starts later. */
function languageOfInput({ session }: SessionRecord): TypedLanguage | undefined {
  const now = session.foregroundPrograms().map(({ name, args }) => languageOf(name, args));
  const started = session.running ? startedLanguages(session.running.spec) : [];
  const languages = [...now, ...started];
  return languages.includes('shell') ? 'shell' : languages.find((language) => language !== undefined);
}

/** The record of a verdict, without what it is about. */
const judged = (
  { action, class: commandClass, reasons }: Pick<PolicyVerdict, 'action' | 'class' | 'reasons'>,
  session: SessionRecord | undefined,
  principal: Principal,
): AuditEvent => ({
  event: 'verdict',
  principal: auditPrincipal(principal),
  session_id: session?.id ?? null,
  verdict: { action, class: commandClass, reasons },
});

/** Keeps a judgement until it is made. */
function remember(pending: WeakMap<SessionRecord, Promise<void>>, session: SessionRecord, judged: Promise<void>): void {
  const done = judged.catch(() => undefined);
  pending.set(session, done);
  void done.then(() => {
    if (pending.get(session) === done) pending.delete(session);
  });
}

function denial({ action, class: commandClass, reasons, commands }: PolicyVerdict): AdapterError {
  const why = reasons.slice(0, SHOWN_REASONS).join('; ');
  const message =
    action === 'deny'
      ? `the policy does not let this run: ${why}`
      : `this has to be confirmed, and nobody can confirm it: ${why}`;
  const shown = commands.filter((command) => command.action !== 'allow').map(({ text }) => text);
  const details: ErrorDetails = { action, class: commandClass, reasons, commands: shown };
  return new AdapterError('COMMAND_DENIED', message, { details });
}

/** Reasons in the message; `details` has more of them. */
const SHOWN_REASONS = 3;
