import { callIdFrom, commandIdFrom, ID_BYTES } from '../core/ids.js';
import { completeLength } from '../core/output/utf8.js';
import type { EventName, EventPayload } from '../core/protocol/results.js';
import { MAX_TIMER_MS } from '../core/time.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Size of a piece of output in bytes; text is counted as UTF-8. */
export const byteLength = (data: string | Uint8Array): number =>
  typeof data === 'string' ? encoder.encode(data).length : data.length;

/** Returns text if the bytes are UTF-8, else the bytes. */
export function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return decoder.decode(bytes);
  } catch {
    // A fatal decoder throws a TypeError: the bytes are not UTF-8.
    return bytes;
  }
}

/** Removes an incomplete character at the end of the bytes. */
export const wholeCharacters = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, completeLength(bytes));

/**
 * Converts the attachment of a message, its `data`, to a plain Uint8Array: Socket.IO provides an ArrayBuffer in
 * browsers and a Buffer in Node.js. Other messages are returned unchanged.
 */
export function withPlainBytes(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message;
  const { data } = message as { readonly data?: unknown };
  if (data instanceof ArrayBuffer) return { ...message, data: new Uint8Array(data) };
  if (!ArrayBuffer.isView(data)) return message;
  return { ...message, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}

/** Listener for one kind of the daemon's events. */
export type EventListener<N extends EventName> = (payload: EventPayload<N>) => void;

/** The listeners of a client, by event. */
export class Listeners {
  readonly #listeners = new Map<EventName, Set<(payload: never) => void>>();

  /** Adds a listener; returns a function that removes it. */
  add<N extends EventName>(event: N, listener: EventListener<N>): () => void {
    // A separate function per call, so that a listener that is added twice is called twice and removed one by one.
    const entry = (payload: EventPayload<N>) => {
      listener(payload);
    };
    const entries = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, entries);
    entries.add(entry);
    return () => entries.delete(entry);
  }

  /** Calls the listeners of an event. An exception in one does not affect the others or the client. */
  emit<N extends EventName>(event: N, payload: EventPayload<N>): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])] as EventListener<N>[]) {
      try {
        listener(payload);
      } catch (error) {
        // The error is a bug of the calling program, and is reported there as an uncaught exception.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Removes all listeners of all events. */
  clear(): void {
    this.#listeners.clear();
  }
}

/** Creates an id for a command: 128 bits of Web Crypto, unique in practice. */
export const randomCommandId = (): string => commandIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));

/** Creates an id for an LLM call, in the same way. */
export const randomCallId = (): string => callIdFrom(crypto.getRandomValues(new Uint8Array(ID_BYTES)));

/** Handle of a timer, in Node.js and in browsers. */
export type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer; returns undefined for a time that exceeds the longest timer, such as `Infinity`. */
export const startTimer = (ms: number, onTime: () => void): Timer | undefined =>
  ms > MAX_TIMER_MS ? undefined : setTimeout(onTime, ms);
