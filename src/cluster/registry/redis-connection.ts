import type { Redis } from 'ioredis';

import type { Log } from '../../core/log.js';
import { registryUnavailable } from './registry.js';

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

/** Longest time for the answer to a command, in milliseconds: Redis needs less than one. */
const COMMAND_TIMEOUT_MS = 1000;
/** Longest time for a connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2000;
/** Time for the other end to close a connection, before it is closed without, in milliseconds. */
const DISCONNECT_TIMEOUT_MS = 200;
/** Pauses between two attempts to connect grow by this, up to the longest one, in milliseconds. */
const PAUSE_STEP_MS = 100;
const MAX_PAUSE_MS = 1000;

/** What ioredis says of a command without an answer. */
const TIMED_OUT = 'Command timed out';

export interface RedisConnectionOptions {
  /** `redis:` or `rediss:`, with its password. Never shown. */
  readonly url: string;
  /** What all keys begin with. */
  readonly prefix: string;
  /** Called for each command that has failed, or was not sent since there is no connection. */
  readonly onError: () => void;
  readonly log: Log;
}

/** A script in Lua. All its keys are declared. */
export interface Script {
  readonly lua: string;
}

/**
 * The connection to Redis. It is made again for as long as it is open, and fails fast meanwhile: no command waits for a
 * connection, and while a command has timed out, only the next heartbeat tries again.
 */
export class RedisConnection implements AsyncDisposable {
  readonly #redis: Redis;
  readonly #options: RedisConnectionOptions;
  readonly #listeners: (() => void)[] = [];
  readonly #channels: RedisChannel[] = [];
  #problem: string | undefined = 'it has not been connected to yet';
  #isSilent = false;
  #isClosing = false;

  private constructor(redis: Redis, options: RedisConnectionOptions) {
    this.#redis = redis;
    this.#options = options;
    redis.on('error', (error: Error) => {
      this.#fail(messageOf(error));
    });
    redis.on('close', () => {
      if (this.#problem === undefined) this.#fail('the connection has ended');
    });
    redis.on('ready', () => {
      this.#recover();
      for (const listener of this.#listeners) listener();
    });
  }

  /**
   * Loads ioredis, and waits for the first attempt to connect, which may fail: `problem` says so then.
   * @throws Error with the code ERR_MODULE_NOT_FOUND when the package is missing
   */
  static async open(options: RedisConnectionOptions): Promise<RedisConnection> {
    const { Redis } = await import('ioredis');
    const redis = new Redis(options.url, {
      lazyConnect: true,
      connectionName: 'shell-adapter',
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      retryStrategy: (attempt) => Math.min(attempt * PAUSE_STEP_MS, MAX_PAUSE_MS),
    });
    const connection = new RedisConnection(redis, options);
    await redis.connect().catch((error: unknown) => {
      connection.#fail(connection.#problem ?? messageOf(error as Error));
    });
    return connection;
  }

  /** Why Redis does not answer; undefined while it does. */
  get problem(): string | undefined {
    return this.#problem;
  }

  onReachable(listener: () => void): void {
    this.#listeners.push(listener);
  }

  key(...parts: readonly string[]): string {
    return this.#options.prefix + parts.join(':');
  }

  /**
   * Sends commands, and gives their answer.
   * @param isProbe whether it is sent though the last one has timed out: for heartbeats
   * @throws AdapterError REGISTRY_UNAVAILABLE at once without a connection; after a second without an answer; when Redis
   *   refuses a command
   */
  async send<T>(act: (redis: Redis) => Promise<T>, { isProbe = false } = {}): Promise<T> {
    if (this.#redis.status !== 'ready' || (this.#isSilent && !isProbe)) {
      this.#options.onError();
      throw registryUnavailable(this.#problem ?? 'there is no connection');
    }
    try {
      const answer = await act(this.#redis);
      this.#recover();
      return answer;
    } catch (error) {
      this.#options.onError();
      const message = messageOf(error as Error);
      this.#noteSilence(message, isProbe);
      throw registryUnavailable(this.#problem ?? message, { cause: error });
    }
  }

  /**
   * Runs a script.
   * @param keys in full
   */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[], options = {}): Promise<unknown> {
    return this.send((redis) => redis.eval(script.lua, keys.length, ...keys, ...args.map(String)), options);
  }

  /**
   * Listens on a channel, which is closed with this connection.
   * @param name in full
   */
  subscribe(name: string): RedisChannel {
    const redis = this.#redis.duplicate({ autoResubscribe: false });
    const channel = new RedisChannel(redis, name, this.#options.log);
    this.#channels.push(channel);
    return channel;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    for (const channel of this.#channels) channel[Symbol.dispose]();
    const isConnected = this.#redis.status === 'ready' || this.#redis.status === 'connect';
    const ended = new Promise((resolve) => this.#redis.once('end', resolve));
    this.#redis.disconnect();
    // Between two attempts to connect, nothing tells the end.
    if (isConnected) await ended;
  }

  /** A connection whose other end is silent may be dead: another one is made. */
  #noteSilence(message: string, isProbe: boolean): void {
    if (message !== TIMED_OUT) {
      this.#fail(message);
      return;
    }
    this.#isSilent = true;
    this.#fail(`it has not answered within ${COMMAND_TIMEOUT_MS} ms`);
    if (isProbe && !this.#isClosing) this.#redis.disconnect(true);
  }

  #fail(why: string): void {
    if (this.#isClosing) return;
    if (this.#problem !== why) this.#options.log.warn('the registry of the cluster does not answer', { why });
    this.#problem = why;
  }

  #recover(): void {
    this.#isSilent = false;
    if (this.#problem === undefined || this.#isClosing) return;
    this.#problem = undefined;
    this.#options.log.info('the registry of the cluster answers');
  }
}

/** An error of several addresses has a code only. */
const messageOf = ({ message, code }: NodeJS.ErrnoException): string => (message === '' ? String(code) : message);
