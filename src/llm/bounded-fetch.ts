/**
 * Returns a fetch whose responses fail when their body exceeds a size, in bytes. Redirects are not followed: the answer
 * of another host is not trusted.
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
