import { setTimeout as sleep } from 'node:timers/promises';

/** Time-out for the delivery of the last keys, in milliseconds. */
const LAST_KEYS_MS = 500;

/** Most characters per request: well below any message limit, also as UTF-8. */
const MAX_KEYS = 16_384;

/** Delivery of keys to a command. */
export interface KeyDelivery {
  /** Delivers keys. Rejects when they could not be delivered. */
  readonly send: (keys: string) => Promise<void>;
  /** Called for each failure to deliver keys. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Delivers keys in the order of typing, one request at a time. Keys typed in the meantime are queued and sent together.
 */
export class KeySender {
  readonly #delivery: KeyDelivery;
  #waiting = '';
  #sending: Promise<void> | undefined;
  #isHeld = false;
  #hasEnded = false;
  #isClosed = false;

  constructor(delivery: KeyDelivery) {
    this.#delivery = delivery;
  }

  /** Whether sent keys are not yet acknowledged. */
  get isSending(): boolean {
    return this.#sending !== undefined;
  }

  /** Queues typed keys for delivery, after those typed before. */
  push(keys: string): void {
    this.#waiting += keys;
    this.#pump();
  }

  /** Pauses or resumes the delivery. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#pump();
  }

  /** Stops sending. Returns the number of characters that were typed and not sent. */
  async end(): Promise<number> {
    this.#hasEnded = true;
    // Input that waits for a confirmation may stay unanswered for a minute.
    if (this.#sending) await Promise.race([this.#sending, sleep(LAST_KEYS_MS, undefined, { ref: false })]);
    this.#isClosed = true;
    return this.#waiting.length;
  }

  #pump(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting !== '' && !this.#isHeld && !this.#hasEnded) {
      const keys = firstOf(this.#waiting);
      this.#waiting = this.#waiting.slice(keys.length);
      try {
        await this.#delivery.send(keys);
      } catch (error) {
        if (!this.#isClosed) this.#delivery.onFailure(error);
      }
    }
  }
}

/** The part of a text that fits into one request, without splitting a character. */
function firstOf(text: string): string {
  if (text.length <= MAX_KEYS) return text;
  const last = text.charCodeAt(MAX_KEYS - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? MAX_KEYS - 1 : MAX_KEYS);
}
