import type { Context } from '../console/context.js';

/** Time without input or EOF after which a note for people is printed, in milliseconds. */
const SILENCE_MS = 3000;

/** Reads to the end, or until there are more than `maxBytes` bytes; prints a note for people when nothing comes. */
export async function readToEnd({ stderr }: Context, input: InputAhead, maxBytes: number, note: string): Promise<void> {
  const { bytes } = input;
  await input.read(maxBytes, SILENCE_MS);
  if (!input.isComplete && input.bytes === bytes)
    await stderr.write(`shell-adapter: ${note}; --no-stdin if there is none\n`);
  await input.read(maxBytes, Infinity);
}

/** An input whose first part was read ahead. Iterating it yields the whole input. */
export class InputAhead implements AsyncIterable<Uint8Array> {
  readonly #stdin: NodeJS.ReadStream;
  readonly #iterator: AsyncIterator<Buffer>;
  readonly #chunks: Buffer[] = [];
  /** The pending read. */
  #next: Promise<IteratorResult<Buffer, unknown>> | undefined;
  #bytes = 0;
  #isComplete = false;

  constructor(stdin: NodeJS.ReadStream) {
    this.#stdin = stdin;
    this.#iterator = (stdin as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Number of bytes that were read ahead. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the input was read to EOF. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Reads until EOF, until there are more than `maxBytes` bytes, or until `ms` milliseconds have passed. */
  async read(maxBytes: number, ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolveLate) => {
      if (ms !== Infinity) timer = setTimeout(resolveLate, ms, undefined);
    });
    while (!this.#isComplete && this.#bytes <= maxBytes) {
      this.#next ??= this.#iterator.next();
      const next = await Promise.race([this.#next, late]);
      if (!next) break;
      this.#next = undefined;
      if (next.done === true) this.#isComplete = true;
      else {
        this.#chunks.push(next.value);
        this.#bytes += next.value.length;
      }
    }
    clearTimeout(timer);
  }

  /** What was read, as text; undefined when it is not UTF-8. */
  text(): string | undefined {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(this.#chunks));
    } catch {
      // A fatal decoder throws a TypeError.
      return undefined;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (let chunk = this.#chunks.shift(); chunk; chunk = this.#chunks.shift()) yield chunk;
    if (this.#isComplete) return;
    for (;;) {
      const next = await (this.#next ?? this.#iterator.next());
      this.#next = undefined;
      if (next.done === true) return;
      yield next.value;
    }
  }

  /** Stops reading. */
  destroy(): void {
    this.#stdin.destroy();
  }
}
