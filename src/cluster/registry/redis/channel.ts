import type { Redis } from 'ioredis';

import type { Log } from '../../../core/logging/log.js';

/**
 * What is published on a channel of Redis, over a connection of its own, which is made again for as long as it is open.
 * Messages may be lost: those that come while there is no connection are.
 */
export class RedisChannel implements Disposable {
  readonly #redis: Redis;
  readonly #listeners: (() => void)[] = [];
  #isOpen = false;

  /** @param redis a connection that is not open yet, and used for nothing else */
  constructor(redis: Redis, name: string, log: Log) {
    this.#redis = redis;
    // The other connection tells what is wrong with Redis.
    redis.on('error', () => undefined);
    redis.on('close', () => {
      this.#isOpen = false;
    });
    redis.on('message', this.#tell);
    redis.on('ready', () => {
      redis.subscribe(name).then(
        () => {
          this.#isOpen = true;
          this.#tell();
        },
        (error: unknown) => {
          log.warn('changes are not told by Redis, and asked for', { channel: name, why: (error as Error).message });
        },
      );
    });
    redis.connect().catch(() => undefined);
  }

  /** Whether messages come at the moment. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Calls `listener` for each message, and after each connection, before which some may have been lost. */
  onMessage(listener: () => void): void {
    this.#listeners.push(listener);
  }

  [Symbol.dispose](): void {
    this.#redis.disconnect();
  }

  readonly #tell = (): void => {
    for (const listener of this.#listeners) listener();
  };
}
