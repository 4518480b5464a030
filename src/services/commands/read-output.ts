import { AdapterError } from '../../core/errors.js';
import { compileLinePattern, LineSearch } from '../../core/output/line-search.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { Command } from '../../engine/command/command.js';
import { takeWhole } from '../../engine/files/find-files.js';
import type { OutputStream } from '../../engine/output/output-stream.js';
import { Slices, Turns } from '../../engine/system/promises.js';
import { assertKept } from '../registry/command-record.js';

/** Size of a piece that is read, in bytes. */
const PIECE_BYTES = 256 * 1024;
/** Most bytes of a character in UTF-8. */
const MAX_CHARACTER_BYTES = 4;
const DEFAULT_BYTES = 65_536;
const LF = 10;

type Wish = Request<'read_output'>;
type Lines = Omit<Answer<'read_output'>, 'size' | 'eof'> & { readonly next_offset: number };

/** Whether a request asks for lines rather than for bytes. */
const wantsLines = ({ from_line, max_lines, last_lines, max_line_length }: Wish): boolean =>
  [from_line, max_lines, last_lines, max_line_length].some((each) => each !== undefined);

/**
 * Reads lines of an output. Lines are counted from `offset`; a last line without its end counts.
 * @throws AdapterError OUTPUT_EXPIRED
 */
async function readLines(output: OutputStream, wish: Wish): Promise<Lines> {
  const { offset = 0, from_line: from = 1, last_lines: last } = wish;
  assertKept(output, offset);
  const begin = last === undefined ? await findLine(output, offset, from) : await findLast(output, offset, last);
  const taken = new TakenLines(wish);
  let position = begin.offset;
  for await (const piece of piecesOf(output, position)) {
    position += taken.take(piece);
    if (taken.isFull) break;
  }
  if (!taken.isFull) taken.takeRest();
  return {
    data: Buffer.concat(taken.lines),
    offset: begin.offset,
    from_line: begin.line,
    lines: taken.lines.length,
    clipped_lines: taken.clipped,
    next_offset: begin.offset + taken.bytes,
  };
}

interface LineStart {
  readonly line: number;
  readonly offset: number;
}

/** Where a line begins, or the end of an output that has fewer. */
async function findLine(output: OutputStream, offset: number, wanted: number): Promise<LineStart> {
  let line = 1;
  let position = offset;
  if (wanted === 1) return { line, offset };
  for await (const piece of piecesOf(output, offset)) {
    for (let end = piece.indexOf(LF); end !== -1; end = piece.indexOf(LF, end + 1)) {
      line += 1;
      if (line === wanted) return { line, offset: position + end + 1 };
    }
    position += piece.length;
  }
  return { line, offset: position };
}

async function findLast(output: OutputStream, offset: number, count: number): Promise<LineStart> {
  /** The starts of the last lines; one more, because the newest may have nothing after it. */
  const starts = [offset];
  let line = 1;
  let position = offset;
  for await (const piece of piecesOf(output, offset)) {
    for (let end = piece.indexOf(LF); end !== -1; end = piece.indexOf(LF, end + 1)) {
      line += 1;
      starts[(line - 1) % (count + 1)] = position + end + 1;
    }
    position += piece.length;
  }
  const isEmpty = starts[(line - 1) % (count + 1)] === position;
  const first = Math.max(1, isEmpty ? line - count : line - count + 1);
  return { line: first, offset: starts[(first - 1) % (count + 1)] ?? offset };
}

/** The pieces of an output from an offset up to its present end. */
async function* piecesOf(output: OutputStream, offset: number): AsyncGenerator<Buffer> {
  const end = output.bytes;
  let position = offset;
  while (position < end) {
    const piece = await output.spool.read(position, Math.min(PIECE_BYTES, end - position));
    // The output may have been discarded meanwhile to make room for newer output.
    if (piece.length === 0) {
      assertKept(output, position);
      return;
    }
    position += piece.length;
    yield piece;
  }
}

/** Lines that are taken from an output until there are enough. */
class TakenLines {
  readonly lines: Buffer[] = [];
  clipped = 0;
  /** Bytes of the output that the lines are. */
  bytes = 0;
  isFull = false;
  readonly #maxLines: number;
  readonly #maxBytes: number;
  readonly #maxCharacters: number | undefined;
  /** Beginning of a line whose end has not come. */
  #open: Buffer[] = [];
  #openKept = 0;
  #openBytes = 0;
  #data = 0;

  constructor({ max_lines, length, max_line_length }: Wish) {
    this.#maxLines = max_lines ?? Infinity;
    this.#maxBytes = length ?? DEFAULT_BYTES;
    this.#maxCharacters = max_line_length;
  }

  /** Takes the lines of a piece; returns its length. */
  take(piece: Buffer): number {
    let from = 0;
    while (!this.isFull && from < piece.length) {
      const end = piece.indexOf(LF, from);
      this.#extend(piece.subarray(from, end === -1 ? piece.length : end + 1));
      if (end !== -1) this.#close();
      // A line that is longer than the whole answer may be is cut.
      else if (this.#maxCharacters === undefined && this.#openKept >= this.#maxBytes) this.#close();
      from = end === -1 ? piece.length : end + 1;
    }
    return piece.length;
  }

  /** Takes a last line without its end. */
  takeRest(): void {
    if (this.#openBytes > 0) this.#close();
  }

  #extend(part: Buffer): void {
    const most = this.#maxCharacters === undefined ? this.#maxBytes : (this.#maxCharacters + 1) * MAX_CHARACTER_BYTES;
    const kept = part.subarray(0, Math.max(0, most - this.#openKept));
    this.#open.push(kept);
    this.#openKept += kept.length;
    this.#openBytes += part.length;
  }

  #close(): void {
    const raw = Buffer.concat(this.#open);
    const isWhole = raw.length === this.#openBytes;
    const line = this.#maxCharacters === undefined ? raw : this.#clip(raw, isWhole, this.#maxCharacters);
    if (this.lines.length > 0 && this.#data + line.length > this.#maxBytes) {
      this.isFull = true;
      return;
    }
    if (line.length > this.#maxBytes || (this.#maxCharacters === undefined && !isWhole)) this.isFull = true;
    this.lines.push(line);
    this.#data += line.length;
    // The rest of a line that was cut comes with the next read.
    this.bytes += this.#maxCharacters === undefined ? line.length : this.#openBytes;
    this.#open = [];
    this.#openKept = 0;
    this.#openBytes = 0;
    if (this.lines.length >= this.#maxLines) this.isFull = true;
  }

  #clip(raw: Buffer, isWhole: boolean, most: number): Buffer {
    const text = raw.toString();
    const characters = Array.from(text.replace(/\n$/, ''));
    if (isWhole && characters.length <= most) return raw;
    this.clipped += 1;
    return Buffer.from(`${characters.slice(0, most).join('')}…\n`);
  }
}

const DEFAULT_READ_BYTES = 65_536;

/**
 * Reads bytes or lines of the output of a command.
 * @throws AdapterError OUTPUT_EXPIRED
 */
export async function readOutput(command: Command, request: Request<'read_output'>): Promise<Answer<'read_output'>> {
  const output = command[request.stream ?? 'stdout'];
  const offset = request.offset ?? 0;
  if (wantsLines(request)) {
    const lines = await readLines(output, request);
    const eof = command.outcome !== undefined && lines.next_offset >= output.bytes;
    return { ...lines, size: output.bytes, eof };
  }
  assertKept(output, offset);
  const data = await output.spool.read(offset, request.length ?? DEFAULT_READ_BYTES);
  // The range may have been discarded meanwhile to make room for newer output.
  if (data.length === 0) assertKept(output, offset);
  const eof = command.outcome !== undefined && offset + data.length >= output.bytes;
  return { data, offset, size: output.bytes, eof };
}

const DEFAULT_LIMIT = 100;
const MAX_BYTES = 64 * 1024 * 1024;
/** Longest time that one call searches, in milliseconds, without its pauses. */
const MAX_WORK_MS = 500;
/** Searches that may wait: they run one at a time, so that together they leave the event loop room. */
const MAX_WAITING = 32;

/** Searches kept outputs of commands, one at a time and in slices. */
export class OutputSearch {
  readonly #turns = new Turns();
  #waiting = 0;

  /**
   * Searches an output.
   * @throws AdapterError INVALID_REQUEST for a wrong pattern, OUTPUT_EXPIRED, RESOURCE_EXHAUSTED when too many wait
   */
  async search(output: OutputStream, request: Request<'search_output'>): Promise<Answer<'search_output'>> {
    const find = compileLinePattern(request);
    const { from_offset: offset = 0, limit = DEFAULT_LIMIT } = request;
    assertKept(output, offset);
    if (this.#waiting >= MAX_WAITING) {
      throw new AdapterError('RESOURCE_EXHAUSTED', `${MAX_WAITING} searches wait already; try again later`);
    }
    this.#waiting += 1;
    try {
      return await this.#turns.take(() => scan(output, new LineSearch(find, limit, offset)));
    } finally {
      this.#waiting -= 1;
    }
  }
}

async function scan(output: OutputStream, search: LineSearch): Promise<Answer<'search_output'>> {
  let usedMs = 0;
  const start = search.offset;
  let position = start;
  let isAtEnd = false;
  while (!isAtEnd && !search.isFull && position - start < MAX_BYTES && usedMs <= MAX_WORK_MS) {
    const piece = await output.spool.read(position, PIECE_BYTES);
    // The output may have been discarded meanwhile to make room for newer output.
    if (piece.length === 0) assertKept(output, position);
    position += piece.length;
    isAtEnd = piece.length === 0;
    const slices = new Slices();
    const usedBefore = usedMs;
    await takeWhole(search, piece, slices, () => usedBefore + slices.usedMs > MAX_WORK_MS);
    usedMs += slices.usedMs;
  }
  const hasAll = isAtEnd && !search.isFull && usedMs <= MAX_WORK_MS && position >= output.bytes;
  if (hasAll) search.takeLast();
  return { matches: search.matches, scanned_to: search.offset, lines: search.lines, complete: hasAll };
}
