import { StringDecoder } from 'node:string_decoder';

import { AdapterError } from '../core/errors.js';
import { markerLabel, promptLine, TerminalText } from '../core/recording.js';
import { MASK, type SecretMask } from '../core/secrets.js';
import type { Command } from '../engine/command/command.js';
import { OutputMask } from '../engine/output/output-mask.js';
import type { RecordingWriter } from '../engine/output/recording-writer.js';
import type { Session, SessionTap } from '../engine/session/session.js';
import { quote } from '../engine/shells/shell.js';

/** Most bytes of terminal output that are searched for an echo; a longer text counts as not echoed. */
const MAX_ECHO_BYTES = 64 * 1024;
/** Most texts that wait for their echo. */
const MAX_WAITING = 256;

/** Control characters, which a terminal does not echo as they are: all but printable ASCII and bytes of other characters. */
const CONTROL = /[^ -~\u0080-\u00ff]+/u;

/** Typed text that is not recorded yet. */
interface Typed {
  readonly text: string;
  /** Parts that the terminal has to echo, in order, as bytes; undefined when it did not echo as they were typed. */
  readonly awaited: readonly string[] | undefined;
}

/**
 * Records what is typed into one command, in order. A text counts as shown when the terminal echoed as it was typed, and
 * the echo has come: a program may switch the echo off in between. Everything else is recorded as `***`, together with
 * the rest of its line. Secrets in shown text are masked, wherever the text is cut.
 */
export class TypedInput {
  readonly #patterns: readonly string[];
  readonly #record: (text: string) => void;
  readonly #waiting: Typed[] = [];
  #mask: OutputMask;
  /** Terminal output that may be the echo of what waits, as bytes. */
  #echo = '';
  /** Whether the rest of the line is hidden. */
  #isHidden = false;

  /**
   * @param patterns see `patternsOf`
   * @param record called with text to record, which is never empty
   */
  constructor(patterns: readonly string[], record: (text: string) => void) {
    this.#patterns = patterns;
    this.#record = record;
    this.#mask = new OutputMask(patterns);
  }

  take(text: string, isShown: boolean): void {
    const bytes = Buffer.from(text).toString('latin1');
    const awaited = isShown ? bytes.split(CONTROL).filter((part) => part !== '') : undefined;
    this.#waiting.push({ text, awaited });
    this.#settle();
    if (this.#waiting.length > MAX_WAITING) this.#settleUpTo(0, undefined);
  }

  /** Takes output of the terminal, with the echo in it. */
  echo(output: Buffer): void {
    if (this.#waiting.length === 0) return;
    this.#echo = (this.#echo + output.toString('latin1')).slice(-MAX_ECHO_BYTES);
    this.#settle();
  }

  /** Records what waits, at the end of the command: what was not echoed is hidden. */
  end(): void {
    for (const { text } of this.#waiting.splice(0)) this.#hide(text);
    this.#emit(this.#mask.flush().toString());
    this.#echo = '';
    this.#isHidden = false;
  }

  /** Records what was echoed, and what cannot be any more: echoes come in the order of typing. */
  #settle(): void {
    for (let index = 0; index < this.#waiting.length; index += 1) {
      const { awaited = [] } = this.#waiting[index] ?? {};
      // A text without an echo of its own says nothing about those before it.
      if (index > 0 && awaited.length === 0) continue;
      const end = findInOrder(this.#echo, awaited);
      if (end === undefined) continue;
      this.#settleUpTo(index, end);
      index = -1;
    }
    if (this.#waiting.length === 0) this.#echo = '';
  }

  /** @param end of the echo of the text with this index; undefined when it was not echoed, as those before */
  #settleUpTo(index: number, end: number | undefined): void {
    for (const [position, { text, awaited }] of this.#waiting.splice(0, index + 1).entries()) {
      if (position === index && end !== undefined && awaited) this.#show(text);
      else this.#hide(text);
    }
    this.#echo = this.#echo.slice(end ?? 0);
  }

  #show(text: string): void {
    let recorded = '';
    for (const line of linesOf(text)) {
      recorded += this.#isHidden ? lineEndOf(line) : this.#mask.push(Buffer.from(line)).toString();
      if (lineEndOf(line) !== '') this.#isHidden = false;
    }
    this.#emit(recorded);
  }

  #hide(text: string): void {
    let recorded = '';
    for (const line of linesOf(text)) {
      if (!this.#isHidden && line !== lineEndOf(line)) {
        this.#isHidden = true;
        // The held start of a possible secret is dropped: it is part of the line.
        this.#mask = new OutputMask(this.#patterns);
        recorded += MASK;
      }
      const end = lineEndOf(line);
      if (end === '') continue;
      recorded += this.#isHidden ? end : this.#mask.push(Buffer.from(end)).toString();
      this.#isHidden = false;
    }
    this.#emit(recorded);
  }

  #emit(text: string): void {
    if (text !== '') this.#record(text);
  }
}

/** Returns the end of the last part, when all are in the output in order; undefined otherwise. */
function findInOrder(output: string, parts: readonly string[]): number | undefined {
  let end = 0;
  for (const part of parts) {
    const at = output.indexOf(part, end);
    if (at === -1) return undefined;
    end = at + part.length;
  }
  return end;
}

/** Whether a character ends a typed line: Enter is a carriage return on a terminal, a line feed in a text. */
const isLineEnd = (character: string | undefined): boolean => character === '\r' || character === '\n';

const lineEndOf = (line: string): string => (isLineEnd(line.at(-1)) ? line.slice(-1) : '');

/** Splits a text after each line end. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (!isLineEnd(text[index])) continue;
    lines.push(text.slice(start, index + 1));
    start = index + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** Text typed into a command. */
interface TypedText {
  readonly data: string;
  readonly eof: boolean;
}

const STREAMS = ['stdout', 'stderr'] as const;

/** Records one session: its commands, what they print, and what is typed into them. */
export class SessionRecorder implements SessionTap {
  readonly id: string;
  readonly #writer: RecordingWriter;
  readonly #secrets: SecretMask;
  readonly #seen = new WeakSet<Command>();
  #typed: { readonly command: Command; readonly input: TypedInput } | undefined;
  /** The look-up of the terminal's mode that is under way: it counts for all text typed meanwhile. */
  #look: Promise<boolean> | undefined;
  /** Whether the screen is at the beginning of a line. */
  #isAtLineStart = true;

  constructor(id: string, writer: RecordingWriter, secrets: SecretMask) {
    this.id = id;
    this.#writer = writer;
    this.#secrets = secrets;
  }

  onStarted(command: Command): void {
    if (this.#seen.has(command) || !this.#writer.isOpen) return;
    this.#seen.add(command);
    const text = this.#secrets.text(textOf(command));
    this.#writer.add('m', markerLabel(text));
    this.#show((this.#isAtLineStart ? '' : '\r\n') + promptLine(text));
    for (const stream of STREAMS) this.#follow(command, stream);
    command.atEnd('event', () => {
      if (this.#typed?.command === command) this.#endTyped();
    });
  }

  onTerminalData(chunk: Buffer): void {
    this.#typed?.input.echo(chunk);
  }

  onResize(cols: number, rows: number): void {
    this.#writer.add('r', `${cols}x${rows}`);
  }

  /**
   * Types into a command, and records that: the text, or `***` where the terminal does not echo it. The mode of the
   * terminal is looked up before the command can read the text and change it.
   * @returns number of bytes accepted
   * @throws AdapterError NO_RUNNING_COMMAND when the command has ended meanwhile; INPUT_FULL
   */
  async type(session: Session, command: Command, { data, eof }: TypedText): Promise<number> {
    const isShown = await this.#isShown(session, command, data);
    if (session.running !== command) {
      throw new AdapterError('NO_RUNNING_COMMAND', `command ${command.id} has ended: there is nothing to type into`);
    }
    const accepted = session.terminal.type(data, eof);
    if (data !== '') this.#inputOf(command).take(data, isShown);
    return accepted;
  }

  /** Ends the recording with its session; resolves when it is written. */
  async end(): Promise<void> {
    this.#endTyped();
    await this.#writer.end();
  }

  /** Length so far, in milliseconds. */
  get durationMs(): number {
    return this.#writer.durationMs;
  }

  /** Whether events are still recorded. */
  get isOpen(): boolean {
    return this.#writer.isOpen;
  }

  /** Resolves when everything so far can be read. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  /** Text that comes during a look-up waits for it, even if it needs none: everything is delivered in the order of typing. */
  async #isShown(session: Session, command: Command, data: string): Promise<boolean> {
    const isCandidate = data !== '' && this.#writer.isOpen && mayShow(session, command);
    const look = isCandidate ? this.#lookAt(session) : this.#look;
    return (await look) === true && isCandidate;
  }

  /** The look-up begins before the text is delivered, and text that comes meanwhile is delivered with it. */
  #lookAt(session: Session): Promise<boolean> {
    this.#look ??= session.terminal.showsTyped().finally(() => {
      this.#look = undefined;
    });
    return this.#look;
  }

  #follow(command: Command, stream: (typeof STREAMS)[number]): void {
    const decoder = new StringDecoder('utf8');
    const text = command.spec.tty ? undefined : new TerminalText();
    const show = (decoded: string) => {
      this.#show(text?.convert(decoded) ?? decoded);
    };
    command[stream].tap((chunk) => {
      show(decoder.write(chunk));
    });
    command.atEnd('event', () => {
      show(decoder.end());
    });
  }

  #show(text: string): void {
    if (text === '') return;
    this.#isAtLineStart = text.endsWith('\n');
    this.#writer.add('o', text);
  }

  #inputOf(command: Command): TypedInput {
    if (this.#typed?.command === command) return this.#typed.input;
    this.#endTyped();
    const input = new TypedInput(this.#secrets.patterns, (text) => {
      this.#writer.add('i', text);
    });
    this.#typed = { command, input };
    return input;
  }

  #endTyped(): void {
    this.#typed?.input.end();
    this.#typed = undefined;
  }
}

/**
 * Whether typed text may be seen. The echo on the terminal of a command with pipes is not part of its output: it counts only
 * for a program that waits for the text, since what is typed ahead may be for one that switches the echo off.
 */
const mayShow = (session: Session, { spec }: Command): boolean => spec.tty || session.terminal.isRead;

/** Words that mean the same without quotes. */
const PLAIN = /^[\w@%+=:,./-]+$/u;

/** A command as a person would type it. */
function textOf({ spec: { command, args } }: Command): string {
  return args ? [command, ...args].map((word) => (PLAIN.test(word) ? word : quote(word))).join(' ') : command;
}

/** A session, and what records it. */
interface RecordedSession {
  readonly session: Session;
  readonly recorder: SessionRecorder | undefined;
}

/**
 * Types into the running command of a session, and records that if the session is recorded.
 * @returns number of bytes accepted
 * @throws AdapterError INPUT_FULL; NO_RUNNING_COMMAND when the command of a recorded session has ended meanwhile
 */
export function typeInto(
  { session, recorder }: RecordedSession,
  command: Command,
  typed: TypedText,
): number | Promise<number> {
  return recorder ? recorder.type(session, command, typed) : session.terminal.type(typed.data, typed.eof);
}
