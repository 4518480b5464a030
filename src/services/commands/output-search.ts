import { setImmediate as eventLoop } from 'node:timers/promises';

import { AdapterError } from '../../core/errors.js';
import { compileLinePattern, LineSearch } from '../../core/output/line-search.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { OutputStream } from '../../engine/output/output-stream.js';
import { assertKept } from '../registry/command-failures.js';

const DEFAULT_LIMIT = 100;
/** Size of a piece that is read, in bytes. */
const PIECE_BYTES = 256 * 1024;
/** Most bytes that one call searches. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Longest time that one call searches, in milliseconds, without its pauses. */
const MAX_WORK_MS = 500;
/** Longest time that a search blocks the event loop, in milliseconds, except for one part of a line. */
const SLICE_MS = 4;
/** Searches that may wait: they run one at a time, so that together they leave the event loop room. */
const MAX_WAITING = 32;

/** Searches kept outputs of commands, one at a time and in slices. */
export class OutputSearch {
  #last: Promise<unknown> = Promise.resolve();
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
    const before = this.#last;
    const searching = before.then(() => scan(output, new LineSearch(find, limit, offset)));
    this.#last = searching.catch(() => undefined);
    try {
      return await searching;
    } finally {
      this.#waiting -= 1;
    }
  }
}

async function scan(output: OutputStream, search: LineSearch): Promise<Answer<'search_output'>> {
  const budget = new WorkBudget();
  const start = search.offset;
  let position = start;
  let isAtEnd = false;
  while (!isAtEnd && !search.isFull && position - start < MAX_BYTES && !budget.isSpent) {
    const piece = await output.spool.read(position, PIECE_BYTES);
    // The output may have been discarded meanwhile to make room for newer output.
    if (piece.length === 0) assertKept(output, position);
    position += piece.length;
    isAtEnd = piece.length === 0;
    await takeWhole(search, piece, budget);
  }
  const hasAll = isAtEnd && !search.isFull && !budget.isSpent && position >= output.bytes;
  if (hasAll) search.takeLast();
  return { matches: search.matches, scanned_to: search.offset, lines: search.lines, complete: hasAll };
}

/** Searches a piece in slices. */
async function takeWhole(search: LineSearch, piece: Uint8Array, budget: WorkBudget): Promise<void> {
  const mustPause = () => budget.isSliceOver;
  budget.beginSlice();
  let isDone = search.take(piece, mustPause);
  while (!isDone && !search.isFull) {
    budget.endSlice();
    if (budget.isSpent) return;
    await eventLoop();
    budget.beginSlice();
    isDone = search.take(NOTHING, mustPause);
  }
  budget.endSlice();
}

const NOTHING = new Uint8Array();

/** Measures the time of a call without its pauses. */
class WorkBudget {
  #usedMs = 0;
  #sliceSince = 0;

  beginSlice(): void {
    this.#sliceSince = performance.now();
  }

  get isSliceOver(): boolean {
    return performance.now() - this.#sliceSince > SLICE_MS;
  }

  endSlice(): void {
    this.#usedMs += performance.now() - this.#sliceSince;
  }

  get isSpent(): boolean {
    return this.#usedMs > MAX_WORK_MS;
  }
}
