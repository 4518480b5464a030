import { resolve } from 'node:path';

import type { AdapterClient, InputSource } from '../../client/index.js';
import type { Context } from '../console/context.js';

/**
 * Larger inputs are streamed, in bytes; smaller ones are part of the request if the daemon accepts requests of that
 * size.
 */
const MAX_TEXT_BYTES = 1024 * 1024;
/** Size reserved for the rest of a request, in bytes. */
const REQUEST_ROOM_BYTES = 4096;
/** How long to wait for a complete input before the command starts, in milliseconds. */
const QUICK_MS = 50;
/** Time without input or EOF after which a note for people is printed, in milliseconds. */
const SILENCE_MS = 3000;

/** Input of a command: a text that was complete before the start, or a source that is streamed. */
export type CommandInput = string | InputSource;

/** Context of the command, for the policy. */
interface Place {
  readonly session?: string;
  readonly cwd?: string;
}

/**
 * Reads standard input for a command. A short input that is complete at once and UTF-8 is returned as text, which the
 * policy can evaluate. Any other input is streamed while the command runs. If the policy would not allow the command
 * with an input that it cannot see, the input is first read to EOF, up to the size of a request.
 */
export async function readInput(
  context: Context,
  client: AdapterClient,
  command: readonly [string, ...string[]],
  { session, cwd }: Place,
): Promise<CommandInput> {
  const ahead = new InputAhead(context.stdin);
  await ahead.read(MAX_TEXT_BYTES, QUICK_MS);
  if (ahead.isComplete && ahead.bytes === 0) return '';
  const { limits } = await client.metadata();
  const maxBytes = Math.min(MAX_TEXT_BYTES, limits.max_message_bytes - REQUEST_ROOM_BYTES);
  if (!ahead.isComplete && ahead.bytes <= maxBytes) {
    const place = { session, cwd: cwd === undefined ? undefined : resolve(context.cwd, cwd) };
    if (!(await isAllowedUnseen(client, command, place))) await readToEnd(context, ahead, maxBytes);
  }
  return (ahead.isComplete ? ahead.text(maxBytes) : undefined) ?? ahead;
}

/** Whether the daemon runs a command whose input the policy cannot see. */
async function isAllowedUnseen(
  client: AdapterClient,
  [command, ...args]: readonly [string, ...string[]],
  { session, cwd }: { readonly session: string | undefined; readonly cwd: string | undefined },
): Promise<boolean> {
  const { action, enforced } = await client.request('check_command', {
    command,
    args: args.length === 0 ? undefined : args,
    cwd,
    session_id: session,
    stdin_stream: true,
  });
  return !enforced || action === 'allow';
}

/** Continues reading; prints a note for people when no data arrives. */
async function readToEnd({ stderr }: Context, ahead: InputAhead, maxBytes: number): Promise<void> {
  const note = setTimeout(() => {
    void stderr.write(
      'shell-adapter: the policy has to see standard input first: reading it to its end; --no-stdin if there is none\n',
    );
  }, SILENCE_MS);
  await ahead.read(maxBytes, Infinity);
  clearTimeout(note);
}

/** An input whose first part was read ahead. Iterating it yields the whole input. */
class InputAhead implements AsyncIterable<Uint8Array> {
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

  /** The input as text; undefined when it exceeds `maxBytes` in a request, or is not UTF-8. */
  text(maxBytes: number): string | undefined {
    if (this.#bytes > maxBytes) return undefined;
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(this.#chunks));
      return Buffer.byteLength(JSON.stringify(text)) > maxBytes ? undefined : text;
    } catch {
      // A fatal decoder throws a TypeError: the bytes are not UTF-8.
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
