import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a fake model was asked. */
export interface ModelRequest {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
}

/** How a fake model answers: a text as the model's answer, or whatever a handler does with the response. */
export type ModelAnswer = string | ((response: ServerResponse) => void);

/** An HTTP server with the chat API of OpenAI, on loopback. It answers what a test says. */
export class FakeModel implements AsyncDisposable {
  readonly requests: ModelRequest[] = [];
  answer: ModelAnswer = '';
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async start(): Promise<FakeModel> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FakeModel(server);
  }

  /** To be given as `base_url`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as ModelRequest['body'];
    this.requests.push({ url: request.url ?? '', authorization: request.headers.authorization, body });
    if (typeof this.answer === 'string') sayAs(response, this.answer);
    else this.answer(response);
  }
}

/** Answers as a model does that has said this. */
export function sayAs(response: ServerResponse, content: string, finishReason = 'stop'): void {
  const message = { role: 'assistant', content };
  const choices = [{ index: 0, message, finish_reason: finishReason }];
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 0, model: 'fake', choices }));
}
