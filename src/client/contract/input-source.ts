/** Standard input that comes while the command runs: a stream of Node's or the web's, or a generator, of bytes or text. */
export type InputSource = AsyncIterable<Uint8Array | string>;

/** What is to be streamed to a command; undefined for text, which goes with the request. */
export function inputSource(stdin: string | Uint8Array | InputSource | undefined): InputSource | undefined {
  if (stdin === undefined || typeof stdin === 'string') return undefined;
  return stdin instanceof Uint8Array ? once(stdin) : stdin;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
