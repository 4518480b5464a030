/**
 * Standard input that is streamed while the command runs: a Node.js or web stream, or a generator, of bytes or text.
 */
export type InputSource = AsyncIterable<Uint8Array | string>;

/** The source to stream to a command; undefined for text, which is part of the request. */
export function inputSource(stdin: string | Uint8Array | InputSource | undefined): InputSource | undefined {
  if (stdin === undefined || typeof stdin === 'string') return undefined;
  return stdin instanceof Uint8Array ? once(stdin) : stdin;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
