/** Most objects whose node is remembered. */
const MAX_PLACES = 10_000;

/** On which node the objects are whose ids clients have chosen: those that were used last. */
export class ObjectPlaces {
  /** By owner and id, the one used last at the end. */
  readonly #nodes = new Map<string, string>();

  /** Notes the node of an object. */
  note(owner: string, id: string, node: string): void {
    const key = keyOf(owner, id);
    this.#nodes.delete(key);
    this.#nodes.set(key, node);
    if (this.#nodes.size <= MAX_PLACES) return;
    for (const oldest of this.#nodes.keys()) {
      this.#nodes.delete(oldest);
      break;
    }
  }

  /** The node of an object; undefined when it is not known. */
  find(owner: string, id: string): string | undefined {
    const node = this.#nodes.get(keyOf(owner, id));
    if (node !== undefined) this.note(owner, id, node);
    return node;
  }
}

const keyOf = (owner: string, id: string): string => `${owner}\0${id}`;
