import { type AuditEvent, auditPrincipal, type AuditTrail } from '../core/audit/event.js';
import type { Principal } from '../core/access/principal.js';
import type { ErrorDetails } from '../core/errors.js';
import { AdapterError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { PolicyFacts } from '../core/policy/facts.js';
import type { PolicyRequest } from '../core/policy/inspect.js';
import { isStandardProgram } from '../core/policy/program-name.js';
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
import { judgedCommands } from './confirmations/wire.js';
import type { SessionFacts } from './session-facts.js';
import type { SessionRecord } from './session-registry.js';

/** What the gate goes by. */
export interface GateSettings {
  /** Whether anything is stopped at all. */
  readonly isEnforced: boolean;
  readonly policy: Policy;
}

/** What somebody has to confirm before it is done. */
export interface GateQuestion {
  /** The text that would be run, with all that it is given; of typed text, the line that it becomes. */
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  /** Takes note that it is done after all. */
  pass(): void;
}

/** Undefined for what is let in. Whatever is denied is a COMMAND_DENIED instead. */
type Judgement = GateQuestion | undefined;

/** What the gate is made of. */
export interface GateOptions {
  readonly settings: () => GateSettings;
  readonly facts: SessionFacts;
  readonly audit: AuditTrail;
  readonly log: Log;
}

/**
 * The one gate: every command of every transport passes it before anything of it happens, and what is typed too. It judges;
 * what has to be confirmed it gives back as a question, and is asked again when that was done.
 */
export class CommandGate {
  readonly #options: GateOptions;
  /** Judgements that are under way: those of one session come in the order of its requests. */
  readonly #pending = new WeakMap<SessionRecord, Promise<unknown>>();
  /** Typed text that is no finished line yet. */
  readonly #typed = new WeakMap<SessionRecord, string>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Judges a command, at once where that can be done at once.
   * @throws AdapterError COMMAND_DENIED
   */
  admit(
    request: Request<'execute_command'>,
    session: SessionRecord | undefined,
    { principal }: Pick<Caller, 'principal'>,
  ): Judgement | Promise<Judgement> {
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
    if (!(facts instanceof Promise)) return judge(facts);
    const judged = facts.then(judge);
    if (session) remember(this.#pending, session, judged);
    return judged;
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
      commands: judgedCommands(commands),
      enforced: isEnforced,
    };
  }

  /**
   * Judges text that is typed into a session's terminal, together with the beginning of its line. What a shell or an
   * interpreter reads there is a command.
   * @throws AdapterError COMMAND_DENIED: it must not be typed
   */
  admitInput(session: SessionRecord, data: string, principal: Principal): Judgement {
    const { isEnforced, policy } = this.#options.settings();
    if (!isEnforced) return undefined;
    const text = this.lineWith(session, data);
    const language = languageOfInput(session);
    const pass = () => void this.#typed.set(session, unfinishedLine(text));
    // What stands in the line already was judged as it was typed.
    if (language === undefined || isHarmlessTyping(data)) {
      pass();
      return undefined;
    }
    const request: PolicyRequest =
      language === 'shell'
        ? { command: text.replaceAll('\r', '\n') }
        : { command: 'python3', args: ['-'], stdin: text };
    const verdict = decide(policy, request, this.#options.facts.whileRunning(session));
    // Without the text, its reasons included: it may be the answer to a question for a password.
    const { action, class: commandClass } = verdict;
    this.#options.audit.record({
      ...judgement({ action, class: commandClass, reasons: [] }, session, principal),
      details: { typed_bytes: Buffer.byteLength(data) },
    });
    if (action === 'confirm') return { request: { command: text }, verdict, pass };
    this.#refuse(session, verdict);
    pass();
    return undefined;
  }

  /** The line that typed text becomes, with what stands in it already. */
  lineWith(session: SessionRecord, data: string): string {
    return (this.#typed.get(session) ?? '') + data;
  }

  /**
   * Lets a shell start with the variables that a session is given, if a single command with them would not be asked about.
   * They cannot be confirmed here: the answer says how they can be.
   * @throws AdapterError COMMAND_DENIED
   */
  async admitShell(
    { env = {}, shell }: Pick<Request<'open_session'>, 'env' | 'shell'>,
    { principal }: Pick<Caller, 'principal'>,
  ): Promise<void> {
    const { isEnforced, policy } = this.#options.settings();
    const program = shell !== undefined && shell.includes('/') && !isStandardProgram(shell) ? shell : undefined;
    if (!isEnforced || (program === undefined && Object.keys(env).length === 0)) return;
    const facts = await this.#options.facts.of(undefined, undefined, false);
    const judge = (given: Readonly<Record<string, string>>) =>
      decide(policy, { command: program ?? ':', args: [], env: given }, facts);
    const verdict = judge(env);
    const details = { environment: Object.keys(env), ...(program !== undefined && { shell: program }) };
    this.#options.audit.record({ ...judgement(verdict, undefined, principal), details });
    if (verdict.action === 'confirm') {
      const variables = Object.entries(env).filter(([name, value]) => judge({ [name]: value }).action !== 'allow');
      throw unconfirmable(verdict, judge({}).action === 'allow' ? variables.map(([name]) => name) : []);
    }
    this.#refuse(undefined, verdict);
  }

  #judge(
    policy: Policy,
    request: PolicyRequest,
    session: SessionRecord | undefined,
    principal: Principal,
    facts: PolicyFacts,
  ): Judgement {
    const verdict = decide(policy, request, facts);
    const { command, args } = request;
    this.#options.audit.record({ ...judgement(verdict, session, principal), command, args });
    if (session && verdict.changesNames) this.#options.facts.forget(session);
    if (verdict.action === 'confirm') return { request, verdict, pass: () => undefined };
    this.#refuse(session, verdict);
    return undefined;
  }

  /** @throws AdapterError COMMAND_DENIED when the verdict is a no */
  #refuse(session: SessionRecord | undefined, verdict: PolicyVerdict): void {
    if (verdict.action !== 'deny') return;
    const { action, class: commandClass, reasons } = verdict;
    this.#options.log.warn('a command was denied', {
      action,
      class: commandClass,
      reasons,
      session_id: session?.id ?? null,
    });
    throw denial(verdict, 'the policy does not let this run');
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
const judgement = (
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

function denial({ action, class: commandClass, reasons, commands }: PolicyVerdict, what: string): AdapterError {
  const message = `${what}: ${reasons.slice(0, SHOWN_REASONS).join('; ')}`;
  const shown = commands.filter((command) => command.action !== 'allow').map(({ text }) => text);
  const details: ErrorDetails = { action, class: commandClass, reasons, commands: shown };
  return new AdapterError('COMMAND_DENIED', message, { details });
}

/** The answer to a session that could be had only after a confirmation; without variables, because of its shell. */
function unconfirmable(verdict: PolicyVerdict, variables: readonly string[]): AdapterError {
  const [name] = variables;
  const instead =
    name === undefined
      ? 'name a shell instead: bash, zsh or sh'
      : `open it without ${variables.join(', ')}, and set them by a command in it (export ${name}=…), which can be confirmed`;
  const { message, details } = denial(verdict, 'a session cannot be confirmed');
  return new AdapterError('COMMAND_DENIED', `${message}; ${instead}`, { details: { ...details, variables } });
}

/** Reasons in the message; `details` has more of them. */
const SHOWN_REASONS = 3;
