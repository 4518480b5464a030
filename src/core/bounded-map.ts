/** A map that forgets the entries that were set first when there are too many. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  /** Sets an entry, which is the newest from now on. */
  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#maxSize && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
