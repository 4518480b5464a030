import type { EventName, EventPayload } from '../protocol/results.js';

/** Size of an event without its data, in bytes: its names and numbers. */
const EVENT_BYTES = 256;

/**
 * Size of an event on a link between nodes, in bytes, about: that of its data, which is the most of it. Both ends of a
 * link count in what the sender has computed.
 */
export function linkSizeOf<N extends EventName>(event: N, payload: EventPayload<N>): number {
  if (event === 'command_output') return EVENT_BYTES + (payload as EventPayload<'command_output'>).data.length;
  if (event === 'llm_chunk') return EVENT_BYTES + (payload as EventPayload<'llm_chunk'>).content.length;
  return EVENT_BYTES;
}

/** The sender's side of a window: what it has sent, and what the receiver has taken. */
export class SendWindow {
  /** Bounds of what is under way, in bytes: a command is paused above the high one, and goes on below the low one. */
  readonly marks: { readonly high: number; readonly low: number };
  #pending = 0;
  #listener: (() => void) | undefined;

  /** @param bytes most bytes that are under way before the source is paused */
  constructor(bytes: number) {
    this.marks = { high: bytes, low: bytes / 2 };
  }

  /** Bytes that were sent, and for which no credit has come. */
  get pending(): number {
    return this.#pending;
  }

  send(bytes: number): void {
    this.#pending += bytes;
  }

  /** Takes credit: the receiver has room for so many bytes more. More than was sent counts as all. */
  credit(bytes: number): void {
    this.#pending = Math.max(0, this.#pending - bytes);
    if (this.#pending > this.marks.low) return;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.();
  }

  /** Calls `listener` once, when little enough is under way; the newest listener counts. */
  onDrained(listener: () => void): void {
    this.#listener = listener;
  }
}

/** The receiver's side of a window: what it has taken since it gave credit last. */
export class Receipts {
  readonly #step: number;
  #taken = 0;

  /** @param step least credit to give at a time, in bytes: fewer packets; below the low mark of the sender */
  constructor(step: number) {
    this.#step = step;
  }

  take(bytes: number): void {
    this.#taken += bytes;
  }

  /** The credit to give now, in bytes; 0 while it is too little to be worth a packet. */
  settle(): number {
    if (this.#taken < this.#step) return 0;
    const credit = this.#taken;
    this.#taken = 0;
    return credit;
  }
}
