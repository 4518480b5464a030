import type { OutputStreamName } from '../../../../client/index.js';
import { collapseCr, stripAnsi } from '../../../../core/output/ansi.js';
import { formatBytes } from '../../../format.js';

/** Output of a command, from a position in its stream on. */
export interface OutputPiece {
  readonly kind: 'output';
  readonly commandId: string;
  readonly stream: OutputStreamName;
  readonly offset: number;
  readonly data: Uint8Array;
}

/** Bytes of a stream that are not shown. */
export interface GapPiece {
  readonly kind: 'gap';
  readonly commandId: string;
  readonly stream: OutputStreamName;
  readonly from: number;
  readonly to: number;
}

/** A text between outputs, such as the line of a command. */
interface MarkPiece {
  readonly kind: 'mark';
  readonly commandId: string;
  readonly text: string;
}

/** The end of a command: the sizes of its streams, and a text about it, which may be empty. */
interface EndPiece {
  readonly kind: 'end';
  readonly commandId: string;
  readonly sizes: { readonly [S in OutputStreamName]: number };
  readonly text: string;
}

/** What a screen shows, one after the other. */
export type ScreenPiece = OutputPiece | GapPiece | MarkPiece;

type FedPiece = OutputPiece | MarkPiece | EndPiece;

/** What a mark costs, in bytes: thousands of short commands count too. */
const MARK_BYTES = 200;

type Place = Pick<GapPiece, 'commandId' | 'stream'>;

const STREAMS = ['stdout', 'stderr'] as const;

const keyOf = ({ commandId, stream }: Place): string => `${stream} ${commandId}`;

/**
 * What waits for a screen, up to a number of bytes: beyond that the oldest is dropped. What was dropped here, or left
 * out by the daemon, is seen by the positions of the next output, and comes out as a gap. Output that was shown before
 * is skipped.
 */
export class ScreenFeed {
  readonly #maxBytes: number;
  /** End of what was shown, or announced as a gap, by stream and command. */
  readonly #ends = new Map<string, number>();
  #pieces: FedPiece[] = [];
  #head = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes that wait. */
  get waitingBytes(): number {
    return this.#bytes;
  }

  /** Adds what is to be shown next. */
  add(piece: FedPiece): void {
    this.#pieces.push(piece);
    this.#bytes += costOf(piece);
    while (this.#bytes > this.#maxBytes && this.#head < this.#pieces.length - 1) this.#shift();
    this.#compact();
  }

  /** Takes the next piece; undefined when nothing waits. */
  take(): ScreenPiece | undefined {
    for (let piece = this.#pieces[this.#head]; piece; piece = this.#pieces[this.#head]) {
      const shown = this.#show(piece);
      if (shown) return shown;
    }
    return undefined;
  }

  /** What the screen shows next because of the piece at the front, which is removed when it has no more to show. */
  #show(piece: FedPiece): ScreenPiece | undefined {
    if (piece.kind === 'output') return this.#showOutput(piece);
    if (piece.kind === 'end') {
      for (const stream of STREAMS) {
        const end = this.#ends.get(keyOf({ ...piece, stream })) ?? 0;
        if (end < piece.sizes[stream]) return this.#gapTo({ ...piece, stream }, end, piece.sizes[stream]);
      }
      for (const stream of STREAMS) this.#ends.delete(keyOf({ ...piece, stream }));
    }
    this.#shift();
    return piece.text === '' ? undefined : { kind: 'mark', commandId: piece.commandId, text: piece.text };
  }

  #showOutput(piece: OutputPiece): ScreenPiece | undefined {
    const end = this.#ends.get(keyOf(piece)) ?? 0;
    if (piece.offset > end) return this.#gapTo(piece, end, piece.offset);
    this.#shift();
    const rest = piece.data.subarray(end - piece.offset);
    if (rest.length === 0) return undefined;
    this.#ends.set(keyOf(piece), end + rest.length);
    return { ...piece, offset: end, data: rest };
  }

  #gapTo({ commandId, stream }: Place, from: number, to: number): GapPiece {
    this.#ends.set(keyOf({ commandId, stream }), to);
    return { kind: 'gap', commandId, stream, from, to };
  }

  #shift(): void {
    const piece = this.#pieces[this.#head];
    if (!piece) return;
    this.#head += 1;
    this.#bytes -= costOf(piece);
  }

  #compact(): void {
    if (this.#head * 2 < this.#pieces.length) return;
    this.#pieces = this.#pieces.slice(this.#head);
    this.#head = 0;
  }
}

const costOf = (piece: FedPiece): number => (piece.kind === 'output' ? piece.data.length : MARK_BYTES);

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
