import type { OutputStreamName } from '../../../../client/index.js';
import { collapseCr, stripAnsi } from '../../../../core/output/ansi.js';
import { formatBytes } from '../../../format/size.js';
import type { ScreenPiece } from './screen-feed.js';

/** A line of the log. */
export interface LogLine {
  /** Number in the log, which stays as older lines are dropped. */
  readonly id: number;
  readonly source: OutputStreamName | 'command' | 'gap';
  readonly text: string;
}

/** Most bytes that are kept. */
const MAX_BYTES = 256 * 1024;
/** Most lines that are given. */
const MAX_LINES = 1000;

/** The newest of what a screen has shown, as lines of text. */
export class TextLog {
  #pieces: ScreenPiece[] = [];
  #bytes = 0;
  #dropped = 0;

  /** Adds what the screen has shown. */
  add(piece: ScreenPiece): void {
    this.#pieces.push(piece);
    this.#bytes += sizeOf(piece);
    while (this.#bytes > MAX_BYTES && this.#pieces.length > 1) {
      const oldest = this.#pieces.shift();
      if (oldest) this.#bytes -= sizeOf(oldest);
      this.#dropped += 1;
    }
  }

  /** Computes the newest lines. */
  lines(): LogLine[] {
    const lines: Omit<LogLine, 'id'>[] = [];
    for (const run of runsOf(this.#pieces)) lines.push(...linesOf(run));
    // Ids need not be dense: they only have to differ, and to stay while nothing is dropped.
    return lines.map((line, index) => ({ ...line, id: this.#dropped * MAX_LINES + index })).slice(-MAX_LINES);
  }
}

interface Run {
  readonly source: LogLine['source'];
  readonly pieces: ScreenPiece[];
}

/** Joins pieces of one stream that follow one another: lines and characters may go on in the next piece. */
function runsOf(pieces: readonly ScreenPiece[]): Run[] {
  const runs: Run[] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    const source = sourceOf(piece);
    if (last && piece.kind === 'output' && last.source === source) last.pieces.push(piece);
    else runs.push({ source, pieces: [piece] });
  }
  return runs;
}

function sourceOf(piece: ScreenPiece): LogLine['source'] {
  if (piece.kind === 'output') return piece.stream;
  return piece.kind === 'gap' ? 'gap' : 'command';
}

function linesOf({ source, pieces }: Run): Omit<LogLine, 'id'>[] {
  const decoder = new TextDecoder();
  const text = pieces.map((piece) => textOf(piece, decoder)).join('');
  const shown = stripAnsi(collapseCr(text)).replace(/\r?\n$/, '');
  return shown.split(/\r?\n/).map((line) => ({ source, text: line }));
}

function textOf(piece: ScreenPiece, decoder: InstanceType<typeof TextDecoder>): string {
  if (piece.kind === 'output') return decoder.decode(piece.data, { stream: true });
  if (piece.kind === 'mark') return piece.text;
  return `${formatBytes(piece.to - piece.from)} of ${piece.stream} not shown`;
}

const sizeOf = (piece: ScreenPiece): number => (piece.kind === 'output' ? piece.data.length : 100);
