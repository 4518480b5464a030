import type { RequestName } from '../../../src/core/protocol/requests.js';

/** An answer over HTTP: the fields of the protocol's answer, or `error`. */
export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly error?: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> };
  };
}

/** An event of a stream. */
export interface RestEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** How a request is sent. */
export interface RestOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const send = (url: string, name: string, payload: unknown, { token, headers, signal }: RestOptions = {}) =>
  fetch(new URL(`/v1/requests/${name}`, url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify(payload),
    ...(signal && { signal }),
  });

/** Makes a request of the protocol over HTTP. */
export async function askRest(
  url: string,
  name: RequestName,
  payload: unknown = {},
  options?: RestOptions,
): Promise<RestAnswer> {
  const response = await send(url, name, payload, options);
  const body = (await response.json()) as RestAnswer['body'];
  return { status: response.status, headers: response.headers, body };
}

/** Makes a request whose events come as they happen; the connection ends with the loop that reads them. */
export async function* streamRest(
  url: string,
  name: RequestName,
  payload: unknown = {},
  options: RestOptions = {},
): AsyncGenerator<RestEvent, void> {
  const headers = { accept: 'text/event-stream', ...options.headers };
  const response = await send(url, name, payload, { ...options, headers });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (event !== undefined) yield { name: event, data: JSON.parse(data!) as RestEvent['data'] };
    }
  }
}
