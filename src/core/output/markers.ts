import { base64 } from './base64.js';
import { LINE_FEED } from './line-feeds.js';

const withThousands = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/gu, ',');

const markerLine = (counts: string, hint: string): string =>
  `[... ${hint === '' ? counts : `${counts}; ${hint}`} ...]\n`;

/** The line that stands for characters that were left out. */
export const sizeMarker = (leftOut: number, total: number, hint: string): string =>
  markerLine(`${withThousands(leftOut)} of ${withThousands(total)} characters left out`, hint);

/** Lines around a marker. */
export interface ShownLines {
  /** Lines before and after it, in whole or in part: one that is on both sides counts twice. */
  readonly shown: number;
  readonly total: number;
  /** Whether the last line before it is shown in part. */
  readonly cutsHead: boolean;
  /** Whether the first line after it is shown in part. */
  readonly cutsTail: boolean;
}

/** The line that stands for lines that were left out, and for the rest of those that are shown in part. */
export function lineMarker({ shown, total, cutsHead, cutsTail }: ShownLines, hint: string): string {
  const leftOut = Math.max(0, total - shown);
  const isSameLine = shown > total;
  const cut = isSameLine ? 1 : Number(cutsHead) + Number(cutsTail);
  const of = `of ${withThousands(total)} ${total === 1 ? 'line' : 'lines'}`;
  const counts = [
    ...(leftOut > 0 || cut === 0 ? [`${withThousands(leftOut)} ${of} left out`] : []),
    ...(cut > 0 ? [`${cut} ${leftOut > 0 ? (cut === 1 ? 'line' : 'lines') : of} cut`] : []),
  ];
  return markerLine(counts.join(', '), hint);
}

/** Joins the two parts of an output and the marker between them. */
export function joinAsBase64(head: Uint8Array, marker: string, tail: Uint8Array): string {
  const breaksLine = head.length > 0 && head[head.length - 1] !== LINE_FEED;
  const middle = new TextEncoder().encode(breaksLine ? `\n${marker}` : marker);
  const joined = new Uint8Array(head.length + middle.length + tail.length);
  joined.set(head);
  joined.set(middle, head.length);
  joined.set(tail, head.length + middle.length);
  return base64(joined);
}
