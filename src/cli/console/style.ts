import util from 'node:util';

import stringWidth from 'fast-string-width';

import type { Output } from './context.js';

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
