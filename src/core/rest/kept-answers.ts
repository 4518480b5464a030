/** Bounds on the answers that are kept. */
export interface KeptBounds {
  /** Time after which an answer is dropped, in milliseconds. */
  readonly maxAgeMs: number;
  /** Most answers of one owner. */
  readonly maxAnswers: number;
  /** Most characters of all answers of one owner; the newest is kept whatever its size. */
  readonly maxCharacters: number;
}

/** An answer that can be kept. */
export interface Keepable {
  /** The answer as text. */
  readonly text: string;
  /** False for one that is not kept: the same request runs again. */
  readonly isFinal: boolean;
}

/** A request that may be a repeated one. */
export interface KeyedRequest {
  /** Id of the owner: keys of different owners have nothing to do with each other. */
  readonly owner: string;
  /** Chosen by the client. */
  readonly key: string;
  /** Equal for the same request. */
  readonly fingerprint: string;
}

interface Entry<Answer> {
  readonly fingerprint: string;
  readonly answer: Promise<Answer>;
  /** When the answer was there, in milliseconds; undefined while the request is under way. */
  answeredAtMs: number | undefined;
  characters: number;
}

type Entries<Answer> = Map<string, Entry<Answer>>;

/** An answer, and whether it was there before. */
export interface Kept<Answer> {
  readonly answer: Answer;
  readonly isRepeated: boolean;
}

/**
 * Answers by the keys that clients have given their requests, so that a repeated request is answered and not run again,
 * also while the first one is under way.
 */
export class KeptAnswers<Answer extends Keepable> {
  readonly #bounds: KeptBounds;
  readonly #owners = new Map<string, Entries<Answer>>();
  readonly #now: () => number;

  /** @param now monotonic clock, in milliseconds */
  constructor(bounds: KeptBounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /**
   * Runs a request, or returns the answer of the one with the same key.
   * @param run never rejects
   * @returns undefined when the key belongs to another request
   */
  async once({ owner, key, fingerprint }: KeyedRequest, run: () => Promise<Answer>): Promise<Kept<Answer> | undefined> {
    this.#dropOld();
    const entries: Entries<Answer> = this.#owners.get(owner) ?? new Map<string, Entry<Answer>>();
    const known = entries.get(key);
    if (known) {
      if (known.fingerprint !== fingerprint) return undefined;
      return { answer: await known.answer, isRepeated: true };
    }
    this.#owners.set(owner, entries);
    const entry: Entry<Answer> = { fingerprint, answer: run(), answeredAtMs: undefined, characters: 0 };
    entries.set(key, entry);
    const answer = await entry.answer;
    entries.delete(key);
    if (answer.isFinal) {
      // The newest comes last.
      entries.set(key, Object.assign(entry, { answeredAtMs: this.#now(), characters: answer.text.length }));
      this.#makeRoom(entries);
    }
    return { answer, isRepeated: false };
  }

  #makeRoom(entries: Entries<Answer>): void {
    const kept = [...entries].filter(([, { answeredAtMs }]) => answeredAtMs !== undefined);
    let characters = kept.reduce((sum, [, entry]) => sum + entry.characters, 0);
    let count = kept.length;
    for (const [key, entry] of kept.slice(0, -1)) {
      if (count <= this.#bounds.maxAnswers && characters <= this.#bounds.maxCharacters) return;
      entries.delete(key);
      count -= 1;
      characters -= entry.characters;
    }
  }

  #dropOld(): void {
    const before = this.#now() - this.#bounds.maxAgeMs;
    for (const [owner, entries] of this.#owners) {
      for (const [key, { answeredAtMs }] of entries) {
        if (answeredAtMs !== undefined && answeredAtMs <= before) entries.delete(key);
      }
      if (entries.size === 0) this.#owners.delete(owner);
    }
  }
}
