import { compileLinePattern, LineSearch, type LineMatch, type LinePattern } from '../../core/output/line-search.js';
import type { OutputStream } from '../../engine/output/output-stream.js';
import { assertKept } from '../registry/command-failures.js';

/** Size of a piece that is read, in bytes. */
const PIECE_BYTES = 256 * 1024;
/** Most bytes that one look searches, so that other work is not held up. */
const LOOK_BYTES = 4 * 1024 * 1024;

const never = (): boolean => false;

/** Looks for a pattern in an output that grows. A line without its end counts as well: it may be a prompt. */
export class PatternWatch {
  readonly #output: OutputStream;
  readonly #find: ReturnType<typeof compileLinePattern>;
  #offset: number;
  #line = 0;
  /** Bytes of the output at the last look. */
  #seen = -1;
  #isBehind = false;

  /**
   * @param offset where to begin, in bytes
   * @throws AdapterError INVALID_REQUEST for a wrong pattern
   */
  constructor(output: OutputStream, pattern: LinePattern, offset: number) {
    this.#output = output;
    this.#find = compileLinePattern(pattern);
    this.#offset = offset;
  }

  /** Whether the last look left some of the output to the next one. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /**
   * Returns the first line with the pattern, if it has come.
   * @param isComplete whether nothing follows, so that all of it is searched
   * @throws AdapterError OUTPUT_EXPIRED
   */
  async look(isComplete: boolean): Promise<LineMatch | undefined> {
    const output = this.#output;
    if (output.bytes === this.#seen) return undefined;
    assertKept(output, this.#offset);
    const search = new LineSearch(this.#find, 1, this.#offset);
    const begin = this.#offset;
    let position = begin;
    this.#isBehind = true;
    while (!search.isFull && (isComplete || position - begin < LOOK_BYTES)) {
      const piece = await output.spool.read(position, PIECE_BYTES);
      if (piece.length === 0) {
        this.#seen = position;
        this.#isBehind = false;
        break;
      }
      position += piece.length;
      search.take(piece, never);
    }
    // The last line stays unsearched for the next look: it may become longer.
    search.takeLast();
    const [match] = search.matches;
    if (match) return { ...match, line: match.line + this.#line };
    this.#offset = search.offset;
    this.#line += search.lines;
    return undefined;
  }
}
