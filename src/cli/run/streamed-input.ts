import { resolve } from 'node:path';

import type { AdapterClient, InputSource } from '../../client/index.js';
import type { Context } from '../console/context.js';

/** Larger inputs are streamed, in bytes; smaller ones go with the request if the daemon takes requests of that size. */
const MAX_TEXT_BYTES = 1024 * 1024;
/** What else a request may have in it, in bytes. */
const REQUEST_ROOM_BYTES = 4096;
/** How long an input may take to be complete before the command starts without waiting for more, in milliseconds. */
const QUICK_MS = 50;
/** After so long without input or its end, in milliseconds, a person should know what is being waited for. */
const SILENCE_MS = 3000;

/** What a command reads: text that was complete before it starts, or what comes while it runs. */
export type CommandInput = string | InputSource;

/** Where a command would run, for the policy. */
interface Place {
  readonly session?: string;
  readonly cwd?: string;
}

/**
 * Reads standard input for a command. One that is short, complete at once and UTF-8 text is given as text, which the policy can judge.
 * Anything else is streamed: the command starts while it comes. If the policy would not let the command run with an input that it
 * cannot see, the input is read to its end first, as far as one request can hold it.
 */
export async function readInput(
  context: Context,
  client: AdapterClient,
  [command, ...args]: readonly [string, ...string[]],
  { session: sessionId, cwd }: Place,
): Promise<CommandInput> {
  const ahead = new InputAhead(context.stdin);
  await ahead.read(MAX_TEXT_BYTES, QUICK_MS);
  if (ahead.isComplete && ahead.bytes === 0) return '';
  const { limits } = await client.metadata();
  const maxBytes = Math.min(MAX_TEXT_BYTES, limits.max_message_bytes - REQUEST_ROOM_BYTES);
  if (!ahead.isComplete && ahead.bytes <= maxBytes) {
    const directory = cwd === undefined ? undefined : resolve(context.cwd, cwd);
    const { action, enforced } = await client.request('check_command', {
      command,
      args: args.length === 0 ? undefined : args,
      cwd: directory,
      session_id: sessionId,
      stdin_stream: true,
    });
    if (enforced && action !== 'allow') await readToEnd(context, ahead, maxBytes);
  }
  return (ahead.isComplete ? ahead.text(maxBytes) : undefined) ?? ahead;
}

/** Reads on, with a note for a person when nothing comes. */
async function readToEnd({ stderr }: Context, ahead: InputAhead, maxBytes: number): Promise<void> {
  const note = setTimeout(() => {
    void stderr.write(
      'shell-adapter: the policy has to see standard input first: reading it to its end; --no-stdin if there is none\n',
    );
  }, SILENCE_MS);
  await ahead.read(maxBytes, Infinity);
  clearTimeout(note);
}

/** An input of which the beginning was read ahead. Iterating it gives all of it. */
class InputAhead implements AsyncIterable<Uint8Array> {
  readonly #stdin: NodeJS.ReadStream;
  readonly #iterator: AsyncIterator<Buffer>;
  readonly #chunks: Buffer[] = [];
  /** What has been asked for and has not come yet. */
  #next: Promise<IteratorResult<Buffer, unknown>> | undefined;
  #bytes = 0;
  #isComplete = false;

  constructor(stdin: NodeJS.ReadStream) {
    this.#stdin = stdin;
    this.#iterator = (stdin as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Bytes that were read ahead. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether that is all. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Reads until the end, or until there are more bytes than that, or so many milliseconds have passed. */
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

  /** What was read as text; undefined when it is longer than that in a request, or not UTF-8. */
  text(maxBytes: number): string | undefined {
    if (this.#bytes > maxBytes) return undefined;
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(this.#chunks));
      return Buffer.byteLength(JSON.stringify(text)) > maxBytes ? undefined : text;
    } catch {
      // The TypeError of a fatal decoder: the bytes are not UTF-8.
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

  /** Reads no more of it. */
  destroy(): void {
    this.#stdin.destroy();
  }
}
