import { formatBytes } from '../../../format.js';
import type { GapPiece, OutputPiece } from './screen-feed.js';

const LF = 10;
const CR = 13;

/** Ends a control sequence that was cut, and the colours before. */
const RESET = '\u0018\u001b[0m';
const DIM = '\u001b[2m';
const RED = '\u001b[31m';
const DEFAULT_COLOUR = '\u001b[39m';

/** Scheme of links to the bytes of a gap. */
const GAP_SCHEME = 'gap:';

const encoder = new TextEncoder();

/**
 * Output as a terminal takes it. That of a command without a terminal has line feeds alone, which return the carriage
 * here; its stderr is red.
 */
export function renderOutput({ data, stream }: OutputPiece, isTty: boolean): Uint8Array {
  if (isTty) return data;
  const lines = withReturns(data);
  if (stream === 'stdout') return lines;
  return concat([encoder.encode(RED), lines, encoder.encode(DEFAULT_COLOUR)]);
}

/** The line that stands for a gap: a link to its bytes. */
export function renderGap(gap: GapPiece, isAtLineStart: boolean): Uint8Array {
  const { from, to, stream } = gap;
  const text = `⋯ ${formatBytes(to - from)} of ${stream} not shown here: read it`;
  const link = `\u001b]8;;${GAP_SCHEME}${addressOf(gap)}\u001b\\${text}\u001b]8;;\u001b\\`;
  return encoder.encode(`${RESET}${isAtLineStart ? '' : '\r\n'}${DIM}${link}${RESET}\r\n`);
}

/** A line between outputs. */
export function renderMark(text: string, isAtLineStart: boolean): Uint8Array {
  return encoder.encode(`${RESET}${isAtLineStart ? '' : '\r\n'}${text}\r\n`);
}

const addressOf = ({ commandId, stream, from }: GapPiece): string => [commandId, stream, from].join('/');

/** Where the link of a gap leads: command, stream and offset. Undefined for another link. */
export function parseGapLink(uri: string): { commandId: string; stream: string; offset: number } | undefined {
  const [, commandId = '', stream = '', offset = ''] = /^gap:([\w.:-]+)\/(stdout|stderr)\/(\d+)$/.exec(uri) ?? [];
  return commandId === '' ? undefined : { commandId, stream, offset: Number(offset) };
}

function withReturns(data: Uint8Array): Uint8Array {
  let feeds = 0;
  for (const byte of data) if (byte === LF) feeds += 1;
  if (feeds === 0) return data;
  const lines = new Uint8Array(data.length + feeds);
  let at = 0;
  for (const byte of data) {
    if (byte === LF) lines[at++] = CR;
    lines[at++] = byte;
  }
  return lines;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
