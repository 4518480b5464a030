import type { Context } from './context.js';
import { CommandLineError } from './failure.js';

/** Upper bound of a message in every configuration: a larger input is rejected without reading more. */
const MAX_STDIN_BYTES = 64 * 1024 * 1024;
/** Time without input or EOF after which a note for people is printed, in milliseconds. */
const SILENCE_MS = 3000;

/** Hints for input that cannot be passed on. */
export interface StdinHints {
  readonly tooLarge: string;
  readonly notText: string;
}

/**
 * Reads standard input until EOF.
 * @throws CommandLineError when it exceeds every message size, or is not text
 */
export async function readStandardInput(
  { stdin, stderr }: Pick<Context, 'stdin' | 'stderr'>,
  hints: StdinHints,
): Promise<string> {
  const note = setTimeout(() => {
    void stderr.write('shell-adapter: reading standard input to its end; --no-stdin if there is none\n');
  }, SILENCE_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      clearTimeout(note);
      size += chunk.length;
      if (size > MAX_STDIN_BYTES) {
        throw new CommandLineError(`standard input is larger than ${MAX_STDIN_BYTES} bytes`, { hint: hints.tooLarge });
      }
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(note);
  }
  return decode(Buffer.concat(chunks), hints.notText);
}

function decode(bytes: Buffer, hint: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    // A fatal decoder throws a TypeError: the bytes are not UTF-8.
    throw new CommandLineError('standard input is not UTF-8 text, and nothing else can be passed on', { hint, cause });
  }
}
