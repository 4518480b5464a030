import { renderEvent, renderHeader } from '../../../../core/recording.js';

/** Most bytes that are kept: some 50,000 lines. */
const MAX_BYTES = 4 * 1024 * 1024;
/** What an entry costs beside its bytes: thousands of short ones count too. */
const ENTRY_BYTES = 100;

/** Size of a terminal, in cells. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** What the terminal got, or its new size. */
interface Entry {
  /** Milliseconds since the epoch; never less than that of the entry before. */
  readonly at: number;
  readonly what: Uint8Array | TerminalSize;
}

/** The newest of what a terminal has shown, with its times, for a file that players of asciicast can play. */
export class SeenOutput {
  #entries: Entry[] = [];
  #head = 0;
  #bytes = 0;
  /** The size before the first entry. */
  #size: TerminalSize = { cols: 80, rows: 24 };

  /** Whether nothing was shown yet. */
  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds what the terminal got; the oldest is dropped above 4 MB. */
  add(bytes: Uint8Array, at: number): void {
    this.#push({ at, what: bytes });
  }

  /** Notes the size of the terminal. */
  resize(size: TerminalSize, at: number): void {
    if (this.isEmpty) this.#size = size;
    else this.#push({ at, what: size });
  }

  /** Renders an asciicast file, version 2. */
  toCast(title: string): string {
    const entries = this.#entries.slice(this.#head);
    const start = entries[0]?.at ?? 0;
    const { cols: width, rows: height } = this.#size;
    // Characters may go on in the next entry.
    const decoder = new TextDecoder();
    const events = entries.map(({ at, what }) => {
      const seconds = (at - start) / 1000;
      if (!(what instanceof Uint8Array)) return renderEvent(seconds, 'r', `${what.cols}x${what.rows}`);
      const text = decoder.decode(what, { stream: true });
      return text === '' ? '' : renderEvent(seconds, 'o', text);
    });
    return renderHeader({ version: 2, width, height, timestamp: Math.floor(start / 1000), title }) + events.join('');
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#bytes += costOf(entry);
    while (this.#bytes > MAX_BYTES && this.#head < this.#entries.length - 1) this.#dropOldest();
    if (this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  #dropOldest(): void {
    const oldest = this.#entries[this.#head];
    if (!oldest) return;
    this.#head += 1;
    this.#bytes -= costOf(oldest);
    if (!(oldest.what instanceof Uint8Array)) this.#size = oldest.what;
  }
}

const costOf = ({ what }: Entry): number => ENTRY_BYTES + (what instanceof Uint8Array ? what.length : 0);
