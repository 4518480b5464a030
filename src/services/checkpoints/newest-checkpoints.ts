import { canAccess, type Principal } from '../../core/access/principal.js';

/** An owner id that no principal has. */
const EVERYBODY = '';

/** A checkpoint with its owner. */
interface Owned {
  readonly id: string;
  readonly owner: string;
}

/** Remembers the newest checkpoint of each owner. They are listed once, when the first principal asks. */
export class NewestCheckpoints {
  readonly #list: () => Promise<readonly Owned[]>;
  readonly #byOwner = new Map<string, string>();
  #newest: string | undefined;
  #loading: Promise<void> | undefined;

  /** @param list lists all checkpoints, the oldest first */
  constructor(list: () => Promise<readonly Owned[]>) {
    this.#list = list;
  }

  /** The newest checkpoint that a principal may see, as far as it is known; null if none is. Begins to list them. */
  of(principal: Principal): string | null {
    void this.load();
    const known = canAccess(principal, EVERYBODY, 'see') ? this.#newest : this.#byOwner.get(principal.id);
    return known ?? null;
  }

  /** Notes a new checkpoint. */
  note({ id, owner }: Owned): void {
    this.#byOwner.set(owner, id);
    this.#newest = id;
  }

  /** Lists the checkpoints, once; never rejects. Without git there are none. */
  load(): Promise<void> {
    return (this.#loading ??= this.#list().then(
      (checkpoints) => {
        const later = [...this.#byOwner].map(([owner, id]) => ({ owner, id }));
        const newest = this.#newest;
        for (const checkpoint of [...checkpoints, ...later]) this.note(checkpoint);
        this.#newest = newest ?? this.#newest;
      },
      () => undefined,
    ));
  }
}
