import type { OutputStreamName } from '../../core/protocol/fields.js';
import type { Piece } from '../../core/output/utf8-chunker.js';
import type { Command } from '../../engine/command/command.js';
import { MAX_EVENT_SIZE } from './output-event.js';

/** Consecutive output of one stream of a command. */
export interface BatchedOutput {
  readonly command: Command;
  readonly stream: OutputStreamName;
  readonly offset: number;
  readonly parts: (string | Uint8Array)[];
  /** In characters or bytes. */
  size: number;
}

/** Joins pieces of output, so that a few large events are sent in place of many small ones. */
export class OutputBatch {
  #entries: BatchedOutput[] = [];

  /** Number of events that the batch makes. */
  get length(): number {
    return this.#entries.length;
  }

  /** Whether it is worth sending at once. */
  get isLarge(): boolean {
    return this.#entries.length > 1 || (this.#entries[0]?.size ?? 0) >= MAX_EVENT_SIZE / 2;
  }

  /** Adds a piece, to the last entry where it continues that. */
  add(command: Command, stream: OutputStreamName, { offset, data }: Piece): void {
    const last = this.#entries.at(-1);
    const isSameKind = last && typeof last.parts[0] === typeof data;
    if (isSameKind && last.command === command && last.stream === stream && last.size + data.length <= MAX_EVENT_SIZE) {
      last.parts.push(data);
      last.size += data.length;
    } else {
      this.#entries.push({ command, stream, offset, parts: [data], size: data.length });
    }
  }

  /** Empties the batch. */
  take(): readonly BatchedOutput[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }
}

/** Returns the data of an entry: a string, or bytes. */
export function joined({ parts }: BatchedOutput): string | Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  return typeof first === 'string' ? parts.join('') : Buffer.concat(parts as readonly Uint8Array[]);
}
