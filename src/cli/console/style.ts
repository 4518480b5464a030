import util from 'node:util';

import stringWidth from 'fast-string-width';

import type { CommandLine, Output } from './context.js';

/** Available since Node.js 20.12: older versions print no colours. */
const styleText = util.styleText as typeof util.styleText | undefined;

/** Colours a text if the output supports it. */
export function paint(output: Output, style: Parameters<typeof util.styleText>[0], text: string): string {
  return output.isColoured && styleText ? styleText(style, text) : text;
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\x1b': '\\e' };

/** Control and format characters: bidirectional controls and zero-width characters would be invisible. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Escapes an untrusted text for one line: it cannot move the cursor, colour the rest, or imitate another text. */
export function onOneLine(text: string, maxCharacters: number): string {
  const visible = text.replaceAll(UNSEEN, (control) => ESCAPES[control] ?? '\u{fffd}');
  const characters = Array.from(visible);
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join('')}…` : visible;
}

/** Formats a time span for people: `42s`, `7m`, `3h`, `2d`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 100) return `${seconds}s`;
  if (seconds < 100 * 60) return `${Math.round(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)}h` : `${Math.round(seconds / 86_400)}d`;
}

/** Space between two columns. */
const GAP = '  ';

/**
 * Formats rows as lines with aligned columns; the last column is not padded. Width is measured in terminal columns:
 * wide characters occupy two.
 */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell))));
  return rows.map((row) => {
    const cells = row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell)));
    return cells.join(GAP).trimEnd();
  });
}

/** Formats a table; without rows, `none` stands in its place. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[], none: string): string[] =>
  rows.length === 0 ? [none] : alignColumns([head, ...rows]);

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Formats a size for people: `512 B`, `3.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power] ?? 'B'}`;
}

/** Moves the cursor to the top left corner and erases the rest: unlike clearing the screen, this does not flicker. */
const HOME = '\x1b[H';
const ERASE_LINE_END = '\x1b[K';
const ERASE_BELOW = '\x1b[J';
const CLEAR = '\x1b[2J';

/** Size of a terminal that does not tell its own. */
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/** Shows lines on a terminal in place of those before. */
export class Screen {
  readonly #stdout: Output;
  #isDrawn = false;

  constructor(stdout: Output) {
    this.#stdout = stdout;
  }

  /** Draws as many lines as there is room for, below the time. */
  async draw(lines: readonly string[]): Promise<void> {
    const { columns, rows } = this.#stdout.size ?? DEFAULT_SIZE;
    const all = [`${new Date().toLocaleTimeString()}  (Ctrl-C ends)`, '', ...lines];
    const shown = all.slice(0, rows - 1).map((line) => `${onOneLine(line, columns)}${ERASE_LINE_END}\n`);
    const start = this.#isDrawn ? HOME : `${CLEAR}${HOME}`;
    this.#isDrawn = true;
    await this.#stdout.write(`${start}${shown.join('')}${ERASE_BELOW}`);
  }
}

/** Longest reason that is printed, in characters. */
const MAX_REASON = 200;

/** The reasons of a verdict, a line for each. */
export const reasonLines = (reasons: readonly string[]): string[] =>
  reasons.map((reason) => `  ${onOneLine(reason, MAX_REASON)}`);

/** How this client can confirm something. */
export const confirmationHint = (commandLine: CommandLine, id = ''): string =>
  `Confirm it: ${commandLine(`confirm ${id} --approve --justification '…'`)}`;
