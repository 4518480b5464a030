import { StringDecoder } from 'node:string_decoder';

import { AdapterError } from '../../core/errors.js';
import { markerLabel, promptLine } from '../../core/recording/command-text.js';
import { TerminalText } from '../../core/recording/terminal-text.js';
import type { SecretMask } from '../../core/secrets/secret-mask.js';
import type { Command } from '../../engine/command/command.js';
import type { RecordingWriter } from '../../engine/recording/recording-writer.js';
import { quote } from '../../engine/shells/shell.js';
import type { Session, SessionTap } from '../../engine/session/session.js';
import { TypedInput } from './typed-input.js';

/** Dependencies of `SessionRecorder`. */
export interface SessionRecorderOptions {
  /** Id of the recording. */
  readonly id: string;
  readonly writer: RecordingWriter;
  readonly secrets: SecretMask;
}

/** Text typed into a command. */
export interface TypedText {
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

  constructor({ id, writer, secrets }: SessionRecorderOptions) {
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
