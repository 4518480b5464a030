import { timingSafeEqual } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';

import { hasExpired, type Token } from '../../core/token.js';
import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { MAX_TIMER_MS } from '../../core/time.js';
import { hashOf, type TokenFiles, UNSETTLED, versionOf } from './token-files.js';

/** A valid token, and the signal of its end. */
interface Entry {
  readonly token: Token;
  readonly hash: Buffer;
  readonly ending: AbortController;
}

/** The token that matches a presented secret. */
export interface ShownToken {
  readonly token: Token;
  /** Aborted when the token becomes invalid; the reason is an AdapterError. */
  readonly ended: AbortSignal;
}

export type TokenChange = 'made' | 'changed' | 'revoked' | 'expired';

export type TokenSource = Pick<TokenFiles, 'directory' | 'read'>;

/** The valid tokens: those in the files, which are read again after every change. */
export class TokenStore implements Disposable {
  readonly #files: TokenSource;
  readonly #log: Log;
  #onChange: (change: TokenChange, token: Token) => void;
  #entries = new Map<string, Entry>();
  #watcher: FSWatcher | undefined;
  #expiryTimer: NodeJS.Timeout | undefined;
  /** The version of the directory that was read last. */
  #version = UNSETTLED;

  /**
   * @param files their directory has to exist, or changes are noticed late
   * @param onChange called for each change of a token while the daemon runs
   */
  constructor(files: TokenSource, log: Log, onChange: (change: TokenChange, token: Token) => void = () => undefined) {
    this.#files = files;
    this.#log = log;
    this.#onChange = () => undefined;
    this.refresh();
    this.#onChange = onChange;
    this.#watch();
  }

  /** Returns the token of a secret, or undefined. Takes the same time for a wrong secret as for a right one. */
  find(secret: string): ShownToken | undefined {
    this.#catchUp();
    const hash = hashOf(secret);
    let found: Entry | undefined;
    for (const entry of this.#entries.values()) {
      if (timingSafeEqual(entry.hash, hash)) found = entry;
    }
    // A timer may be late, by as much time as the machine was suspended.
    if (found && hasExpired(found.token, Date.now())) return undefined;
    return found && { token: found.token, ended: found.ending.signal };
  }

  /** True when the token with this id is valid. */
  isActive(id: string): boolean {
    this.#catchUp();
    const entry = this.#entries.get(id);
    return entry !== undefined && !hasExpired(entry.token, Date.now());
  }

  /** Returns the signal of the end of the token with this id; undefined when it is not valid. */
  endOf(id: string): AbortSignal | undefined {
    return this.isActive(id) ? this.#entries.get(id)?.ending.signal : undefined;
  }

  /** Reads the files again. Tokens that were deleted or changed, or have expired, end. */
  refresh(): void {
    this.#version = versionOf(this.#files.directory);
    const now = Date.now();
    const old = this.#entries;
    const entries = this.#readEntries(now);
    this.#entries = entries;
    for (const [id, entry] of old) this.#endReplaced(entry, entries.get(id));
    this.#awaitExpiry(now);
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
    clearTimeout(this.#expiryTimer);
  }

  /** Reads the files again if they have changed, or may have. */
  #catchUp(): void {
    const version = versionOf(this.#files.directory);
    if (version === UNSETTLED || version !== this.#version) this.refresh();
  }

  /** Reads the valid tokens. Reports those that are new, and ends those that have expired. */
  #readEntries(now: number): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const token of this.#read()) {
      const known = this.#entries.get(token.id);
      if (!hasExpired(token, now)) {
        entries.set(token.id, known && isSame(known.token, token) ? known : newEntry(token));
        if (!known) this.#onChange('made', token);
      } else if (known) {
        known.ending.abort(endOf(token, `has expired (${token.expires_at ?? ''})`));
        this.#onChange('expired', token);
      }
    }
    return entries;
  }

  /** Ends a token that was deleted, or has a successor; one that has expired has ended already. */
  #endReplaced({ token, ending }: Entry, successor: Entry | undefined): void {
    if (successor?.ending === ending || ending.signal.aborted) return;
    ending.abort(endOf(token, successor ? 'was changed; its new secret is needed' : 'was revoked'));
    this.#onChange(successor ? 'changed' : 'revoked', successor?.token ?? token);
  }

  #read(): readonly Token[] {
    try {
      const { tokens, problems } = this.#files.read();
      for (const problem of problems) this.#log.error('a token does not count', { why: problem });
      return tokens;
    } catch (error) {
      // Unreadable tokens are invalid (fail closed).
      this.#log.error('the tokens cannot be read: none counts', { error: (error as Error).message });
      return [];
    }
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#files.directory, { persistent: false }, () => {
        this.refresh();
      });
      this.#watcher.on('error', (error) => {
        this.#warnUnwatched(error);
      });
    } catch (error) {
      this.#warnUnwatched(error as Error);
    }
  }

  /** The system is out of inotify watches, or the directory does not exist. */
  #warnUnwatched({ message }: Error): void {
    this.#log.warn('changes of tokens are seen at the next connection or SIGHUP only', { error: message });
  }

  #awaitExpiry(now: number): void {
    clearTimeout(this.#expiryTimer);
    const ends = [...this.#entries.values()].flatMap(({ token: { expires_at: end } }) =>
      end ? [Date.parse(end)] : [],
    );
    if (ends.length === 0) return;
    const wait = Math.min(MAX_TIMER_MS, Math.max(1, Math.min(...ends) - now));
    this.#expiryTimer = setTimeout(() => {
      this.refresh();
    }, wait).unref();
  }
}

function newEntry(token: Token): Entry {
  const ending = new AbortController();
  // One listener for each of its connections.
  setMaxListeners(0, ending.signal);
  return { token, hash: Buffer.from(token.sha256, 'hex'), ending };
}

const isSame = (a: Token, b: Token): boolean =>
  a.sha256 === b.sha256 &&
  a.role === b.role &&
  a.name === b.name &&
  a.expires_at === b.expires_at &&
  a.run_as === b.run_as;

const endOf = ({ name }: Token, what: string): AdapterError =>
  new AdapterError('UNAUTHORIZED', `the token ${name} ${what}`, { details: { token: name } });
