import { MASK } from '../../core/secrets/secret-mask.js';
import { OutputMask } from '../../engine/output/output-mask.js';

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

  /** Takes typed text. */
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
