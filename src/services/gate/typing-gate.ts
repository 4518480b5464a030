import type { Principal } from '../../core/principal.js';
import type { PolicyFacts } from '../../core/policy/model.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import {
  decideTyping,
  type Policy,
  type PolicyVerdict,
  type TypingVerdict,
  withoutTypedText,
} from '../../core/policy/policy.js';
import { continueLine, hasEditingKeys, isHarmlessTyping } from '../../core/policy/subject/read-command.js';
import type { TypedInput } from '../../core/protocol/requests.js';
import type { Command } from '../../engine/command/command.js';
import type { ForegroundProgram } from '../../engine/command/foreground.js';
import { type GateDesk, type GateQuestion } from './gate-options.js';
import { decideHere } from './decide-here.js';
import type { SessionRecord } from '../registry/session-registry.js';

/**
 * Typed text that has to be confirmed. `request` and `verdict` are visible to others: they contain none of the text.
 */
export interface TypedQuestion extends GateQuestion {
  /** The complete verdict. An approval covers no other one. */
  readonly judged: PolicyVerdict;
  /** The line that the text continues, with the text. */
  readonly line: string;
}

/** Typed text, and whether EOF is signalled after it. */
export type Typed = Pick<TypedInput, 'data' | 'eof'>;

/** Text typed into a command that is not a finished line yet. */
interface OpenLine {
  /** Typed while another program had the terminal: it may become the start of a line, or may have been read already. */
  readonly ahead: string;
  /** Typed at the prompt of a shell. */
  readonly line: string;
}

const NOTHING: OpenLine = { ahead: '', line: '' };

/** The program that executes typed text. */
interface Reader {
  /** Name for messages. */
  readonly name: string;
  readonly verdict: TypingVerdict;
  /** True when it has the terminal now; false when it gets the terminal back after the foreground program. */
  readonly isInForeground: boolean;
}

/** What has to be decided about typed text. */
interface TypingQuestion {
  /** The complete verdict. */
  readonly judged: PolicyVerdict;
  /** The verdict without the text. */
  readonly shown: PolicyVerdict;
  /** True when it is about all that the program may be given, false when it is about one line. */
  readonly isAboutProgram: boolean;
  /** Describes the text. */
  readonly what: string;
}

/**
 * Decides on typed text. Permission to type belongs to a command: one that takes typed input is checked when it starts,
 * and then gets all input. Only a program that was not known at the start of the command is checked here.
 */
export class TypingGate {
  readonly #desk: GateDesk;
  /** Requests for commands that take typed input, recorded when they passed the gate. */
  readonly #interactive = new WeakSet<object>();
  /** Commands that may get any typed input. */
  readonly #granted = new WeakSet<Command>();
  readonly #lines = new WeakMap<Command, OpenLine>();

  constructor(desk: GateDesk) {
    this.#desk = desk;
  }

  /** Notes that a request is for a command that takes typed input. It starts only if that is allowed or confirmed. */
  noteInteractive(request: object): void {
    this.#interactive.add(request);
  }

  /** Notes the start of a request's command. */
  noteStart(request: object, command: Command): void {
    if (this.#interactive.has(request)) this.#granted.add(command);
  }

  /** Returns the line that typed text continues, with the text. */
  lineWith({ session }: SessionRecord, { data = '' }: Typed): string {
    const { ahead, line } = this.#lineOf(session.running);
    return ahead + line + data;
  }

  /**
   * Decides on text typed into the running command of a session. A line of a shell is checked when it is finished.
   * @returns undefined when it may be typed
   * @throws AdapterError COMMAND_DENIED
   */
  admit(session: SessionRecord, typed: Typed, principal: Principal): TypedQuestion | undefined {
    const { isEnforced, confirmingPolicy: policy } = this.#desk.settings();
    if (!isEnforced) return undefined;
    const { running } = session.session;
    if (!running || this.#granted.has(running)) return undefined;
    const reader = this.#findReader(session, policy);
    if (reader?.verdict.action === 'allow') {
      this.#granted.add(running);
      return undefined;
    }
    const question = reader && this.#judge(session, typed, reader, policy);
    const pass = () => {
      this.#continue(running, typed, reader?.verdict.language === 'shell' && reader.isInForeground);
    };
    if (!question) {
      pass();
      return undefined;
    }
    const { judged, shown, isAboutProgram, what } = question;
    const { action, class: commandClass } = shown;
    this.#desk.note(
      shown,
      { session, principal },
      {
        verdict: { action, class: commandClass, reasons: [] },
        details: { typed_bytes: Buffer.byteLength(typed.data ?? '') },
      },
    );
    if (judged.action === 'allow') {
      pass();
      return undefined;
    }
    return {
      request: { command: what },
      verdict: shown,
      judged,
      line: this.lineWith(session, typed),
      pass: isAboutProgram ? () => void this.#granted.add(running) : pass,
    };
  }

  /** What has to be decided about typed text; undefined when nothing does. */
  #judge(
    session: SessionRecord,
    { data = '', eof = false }: Typed,
    { name, verdict, isInForeground }: Reader,
    policy: Policy,
  ): TypingQuestion | undefined {
    const about = { judged: verdict, shown: verdict, isAboutProgram: true, what: `typed input for ${name}` };
    if (verdict.action === 'deny') return about;
    if (verdict.language !== 'shell') return isHarmlessTyping(data) ? undefined : about;
    const { ahead, line } = this.#lineOf(session.session.running);
    const { finished, rest } = continueLine(line, data, eof);
    if (hasEditingKeys(finished + rest)) return about;
    const command = textToRun(ahead, finished, isInForeground);
    if (command === undefined) return undefined;
    const judged = decideHere(policy, { command }, this.#desk.facts.whileRunning(session));
    const what = `${finished.trimEnd().length} characters typed into ${name}`;
    return { judged, shown: withoutTypedText(judged), isAboutProgram: false, what };
  }

  /** Finds the program that executes text typed now. */
  #findReader(record: SessionRecord, policy: Policy): Reader | undefined {
    const { foreground, behind } = record.session.terminal.readers();
    const facts = this.#desk.facts.whileRunning(record);
    const judge = (isInForeground: boolean) => (program: ForegroundProgram) =>
      requestsFor(program).flatMap((request): Reader[] => {
        const verdict = decideTyping(policy, request, atTerminal(facts, program));
        return verdict ? [{ name: program.name, verdict, isInForeground }] : [];
      });
    const readers = foreground.flatMap(judge(true));
    const found = readers.length > 0 ? readers : behind.flatMap(judge(false));
    // A program that a shell has started without job control reads the terminal, not the shell.
    return found.find(({ verdict }) => verdict.language === 'code') ?? found[0];
  }

  #continue(command: Command, { data = '', eof = false }: Typed, isAtPrompt: boolean): void {
    const { ahead, line } = this.#lineOf(command);
    const { finished, rest } = continueLine(isAtPrompt ? line : ahead + line, data, eof);
    const keptAhead = finished === '' && !data.includes('\x03') ? ahead : '';
    this.#lines.set(command, isAtPrompt ? { ahead: keptAhead, line: rest } : { ahead: rest, line: '' });
  }

  #lineOf(command: Command | undefined): OpenLine {
    return (command && this.#lines.get(command)) ?? NOTHING;
  }
}

/**
 * Returns the text that a shell would run.
 * @param ahead text that was typed before the prompt; it is unknown whether it is part of the line
 * @param finished finished lines
 * @returns undefined when nothing is run
 */
function textToRun(ahead: string, finished: string, isInForeground: boolean): string | undefined {
  if (finished.trim() === '' && (ahead === '' || finished === '')) return undefined;
  return ahead !== '' && isInForeground ? `${ahead}${finished}\n${finished}` : ahead + finished;
}

/** Programs that run another one, whose name is their first argument: `python3 /usr/bin/ipython`. */
const RUNS_SCRIPTS = /^(?:.*\/)?(?:python|node|ruby|perl)[\d.]*$/;

/** Converts a running program to requests for the policy. A script that is an interpreter itself is included. */
function requestsFor({ name, args }: ForegroundProgram): PolicyRequest[] {
  // The name of a login shell starts with a dash.
  const [called = name, ...given] = args;
  const own = called.replace(/^-/, '') || name;
  const requests: PolicyRequest[] = [{ command: own, args: given }];
  const [script, ...rest] = given;
  if (RUNS_SCRIPTS.test(own) && script?.startsWith('/') === true) requests.push({ command: script, args: rest });
  return requests;
}

const atTerminal = (facts: PolicyFacts, { readsTerminal }: ForegroundProgram): PolicyFacts => ({
  ...facts,
  typing: { input: readsTerminal, screen: true },
});
