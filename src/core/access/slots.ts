/** Largest numbers of slots that may be taken. */
export interface SlotLimits {
  /** For each key. */
  readonly perKey: number;
  /** For all keys together. */
  readonly total: number;
}

/** Gives a slot back; doing so twice is harmless. */
export type Release = () => void;

/** Counts what is open by key, and bounds it. A key without slots takes no memory. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Which limit has no slot left for a key; undefined when there is one. */
  limitFor(key: string): keyof SlotLimits | undefined {
    if (this.#total >= this.#limits.total) return 'total';
    return (this.#taken.get(key) ?? 0) >= this.#limits.perKey ? 'perKey' : undefined;
  }

  /** Takes a slot, whatever the limits: they are checked before, by `limitFor`. */
  take(key: string): Release {
    let isTaken = true;
    this.#add(key, 1);
    return () => {
      if (isTaken) this.#add(key, -1);
      isTaken = false;
    };
  }

  #add(key: string, change: 1 | -1): void {
    this.#total += change;
    const taken = (this.#taken.get(key) ?? 0) + change;
    if (taken > 0) this.#taken.set(key, taken);
    else this.#taken.delete(key);
  }
}
