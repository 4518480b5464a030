import type { Principal } from '../../core/principal.js';
import { type AuditEvent, auditPrincipal, type AuditTrail } from '../../core/audit-events.js';
import { AdapterError, type ErrorDetails } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import type { Policy, PolicyVerdict } from '../../core/policy/policy.js';
import type { CommandRequest } from '../../core/protocol/requests.js';
import type { Warning } from '../../engine/command/outcome.js';
import { refusesSyntax } from '../../engine/shells/syntax-check.js';
import type { JudgedPlace, JudgedRequest } from '../approval-coverage.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { Executions } from '../executions.js';
import type { SessionFacts } from './session-facts.js';

/** A text that its shell cannot parse, and the program to run in its place. */
export interface RefusedText {
  /** The shell, as it parses the text again and executes nothing: stderr and the exit code are the shell's own. */
  readonly program: { readonly command: string; readonly args: string[] };
  readonly warnings: readonly Warning[];
}

/** Finds commands that need no confirmation because their shell rejects their syntax. */
export class SyntaxGuard {
  readonly #executions: Executions;

  constructor(executions: Executions) {
    this.#executions = executions;
  }

  /**
   * Returns what to run instead of a text that its shell rejects; undefined for every other request. The text itself
   * must not be run even then: a shell executes the lines before the one that it cannot parse, and options of a session
   * may make it parse more.
   */
  async refusal(
    { command, args }: Pick<CommandRequest, 'command' | 'args'>,
    session: SessionRecord | undefined,
    principal: Principal,
  ): Promise<RefusedText | undefined> {
    if (args) return undefined;
    const { oneShots, launch } = this.#executions.of(session?.owner ?? principal);
    const installed = session ? shellOf(session) : oneShots.shell;
    if (!(await refusesSyntax(installed, command, launch))) return undefined;
    const { shell, path } = installed;
    const message = `${shell.name} cannot parse the command: nothing of it was run`;
    return {
      program: { command: path, args: [...shell.parseOnly(command)] },
      warnings: [{ code: 'SYNTAX_ERROR', message }],
    };
  }
}

const shellOf = ({ session: { options } }: SessionRecord) => options.installed;

export interface GateSettings {
  /** False when commands pass without checks. */
  readonly isEnforced: boolean;
  readonly policy: Policy;
  /** The policy for what no checkpoint can undo: typed text, and the variables of a session. */
  readonly confirmingPolicy: Policy;
}

/** What was done before a command that runs without a question: a checkpoint of what it may destroy. */
export interface SavedWorkspace {
  readonly checkpointId: string | undefined;
  readonly warnings: readonly Warning[];
}

/** Saves the workspace before a command whose effects a checkpoint can undo. */
export interface CheckpointGuard {
  /**
   * Saves the workspace, unless that takes longer than configured.
   * @returns what was saved, or the reason why the command has to be confirmed instead
   */
  secure(
    request: PolicyRequest,
    verdict: PolicyVerdict,
    principal: Principal,
  ): Promise<SavedWorkspace | { readonly reason: string }>;
}

/** Lets commands run that a remembered approval covers. */
export interface ApprovalGuard {
  /**
   * Returns undefined at once when no approval covers the command.
   * @param isUnchanged whether the place of the command is still the same
   */
  admit(
    judged: JudgedRequest,
    principal: Principal,
    isUnchanged: () => boolean,
  ): Promise<SavedWorkspace | undefined> | undefined;
}

/** An action that has to be confirmed before it is done. */
export interface GateQuestion {
  /** The text that would run, with all its inputs. */
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  /** Where it was judged; undefined for typed text. */
  readonly place?: JudgedPlace;
  /** Set when no confirmation is needed: the workspace was saved, or a remembered approval covers it. */
  readonly saved?: SavedWorkspace | undefined;
  /** Set when the shell rejects the text: then no confirmation is needed. */
  readonly refused?: RefusedText | undefined;
  /** Notes that the action is done after a confirmation. */
  pass(): void;
}

/** Where something was judged, and for whom. */
export interface VerdictPlace {
  readonly session: SessionRecord | undefined;
  readonly principal: Principal;
}

/** What every gate judges by, and where it notes its verdicts. */
export class GateDesk {
  readonly settings: () => GateSettings;
  readonly facts: SessionFacts;
  readonly #audit: AuditTrail;
  readonly #log: Log;

  constructor(settings: () => GateSettings, facts: SessionFacts, audit: AuditTrail, log: Log) {
    this.settings = settings;
    this.facts = facts;
    this.#audit = audit;
    this.#log = log;
  }

  /**
   * Records a verdict, and throws on a denied one.
   * @param more fields of the record, such as the command
   * @throws AdapterError COMMAND_DENIED
   */
  note(verdict: PolicyVerdict, { session, principal }: VerdictPlace, more: Partial<AuditEvent> = {}): void {
    const { action, class: commandClass, reasons } = verdict;
    this.#audit.record({
      event: 'verdict',
      principal: auditPrincipal(principal),
      session_id: session?.id ?? null,
      verdict: { action, class: commandClass, reasons },
      ...more,
    });
    if (action !== 'deny') return;
    this.#log.warn('a command was denied', { action, class: commandClass, reasons, session_id: session?.id ?? null });
    throw denial(verdict, 'the policy does not let this run');
  }
}

function denial({ action, class: commandClass, reasons, commands }: PolicyVerdict, what: string): AdapterError {
  const message = `${what}: ${reasons.slice(0, SHOWN_REASONS).join('; ')}`;
  const shown = commands.filter((command) => command.action !== 'allow').map(({ text }) => text);
  const details: ErrorDetails = { action, class: commandClass, reasons, commands: shown };
  return new AdapterError('COMMAND_DENIED', message, { details });
}

/** The error for a session that would need a confirmation. Without variables, its shell is the cause. */
export function unconfirmable(verdict: PolicyVerdict, variables: readonly string[]): AdapterError {
  const [name] = variables;
  const instead =
    name === undefined
      ? 'name a shell instead: bash, zsh or sh'
      : `open it without ${variables.join(', ')}, and set them by a command in it (export ${name}=…), which can be confirmed`;
  const { message, details } = denial(verdict, 'a session cannot be confirmed');
  return new AdapterError('COMMAND_DENIED', `${message}; ${instead}`, { details: { ...details, variables } });
}

/** Maximum number of reasons in the message; `details` has more of them. */
const SHOWN_REASONS = 3;
