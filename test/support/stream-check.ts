/** An event as a client has got it. */
interface SeenEvent {
  readonly name: string;
  readonly payload: unknown;
}

interface SeqRange {
  readonly from_seq: number;
  readonly to_seq: number;
}

interface OutputEvent {
  readonly seq: number;
  readonly offset: number;
  readonly data?: string | Uint8Array;
  /** In place of the data, where a client only tells how much it was. */
  readonly size?: number;
}

/** Puts the output of one stream of a session together from what one connection after another got of it. */
export class StreamCheck {
  /** The event that must come next. */
  nextSeq = 0;
  /** Gaps that were announced. */
  gaps = 0;
  /** What the protocol does not allow: numbers that are missing unannounced, or doubled; wrong offsets. */
  readonly problems: string[] = [];
  readonly #pieces: { readonly offset: number; readonly data: string }[] = [];
  #nextOffset: number | undefined = 0;

  /** Takes what one connection got, in order. */
  take(events: readonly SeenEvent[]): void {
    for (const { name, payload } of events) {
      if (name === 'output_gap') this.takeGap(payload as SeqRange);
      else if (name === 'command_output') this.#takeOutput(payload as OutputEvent);
    }
  }

  /** Takes an announced gap, from an event or from the answer to `attach_session`. */
  takeGap(gap: SeqRange | null): void {
    if (!gap) return;
    if (gap.from_seq !== this.nextSeq) this.problems.push(`gap from ${gap.from_seq}, expected ${this.nextSeq}`);
    this.gaps += 1;
    this.nextSeq = gap.to_seq + 1;
    this.#nextOffset = undefined;
  }

  /** All text so far; makes sense where there was no gap. */
  text(): string {
    return this.#pieces.map(({ data }) => data).join('');
  }

  /** The pieces that are not what `whole` has in their place. */
  differencesFrom(whole: string): string[] {
    return this.#pieces
      .filter(({ offset, data }) => whole.slice(offset, offset + data.length) !== data)
      .map(({ offset, data }) => `at ${offset}: ${JSON.stringify(data.slice(0, 40))}`);
  }

  /** How many of so many bytes have not come; for ASCII. */
  missingBytes(bytes: number): number {
    return bytes - this.#pieces.reduce((sum, { data }) => sum + data.length, 0);
  }

  #takeOutput({ seq, offset, data, size }: OutputEvent): void {
    if (seq !== this.nextSeq) this.problems.push(`event ${seq}, expected ${this.nextSeq}`);
    if (this.#nextOffset !== undefined && offset !== this.#nextOffset) {
      this.problems.push(`event ${seq} begins at ${offset}, expected ${this.#nextOffset}`);
    }
    this.nextSeq = seq + 1;
    this.#nextOffset = offset + (data?.length ?? size ?? 0);
    if (data !== undefined)
      this.#pieces.push({ offset, data: typeof data === 'string' ? data : Buffer.from(data).toString('latin1') });
  }
}
