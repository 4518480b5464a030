import { request } from 'node:http';

/** An answer to a plain HTTP request. */
export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** The text as JSON; undefined when it is none. */
  readonly body: unknown;
}

/** Asks without keeping the connection; unlike fetch, with whatever headers (`host`, `origin`) the test wants. */
export async function ask(
  url: string | URL,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Promise<HttpAnswer> {
  const { method = 'GET', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        const { 'content-type': type = '' } = response.headers;
        const isJson = type.startsWith('application/json') && text !== '';
        resolve({ status: response.statusCode ?? 0, type, text, body: isJson ? JSON.parse(text) : undefined });
      });
    });
    asking.on('error', reject);
    asking.end(body);
  });
}
