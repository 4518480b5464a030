/**
 * A fetch whose responses end with an error when their body grows beyond a size. Redirects are not followed: whoever answers
 * for another host has no business here.
 */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'error' });
    const { status, statusText, headers } = response;
    const body = response.body?.pipeThrough(byteLimit(maxBytes)) ?? null;
    return new Response(body, { status, statusText, headers });
  };
}

function byteLimit(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
}
