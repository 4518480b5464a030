import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Conversation, conversationOf } from './llm-conversation.js';
import { type Dialect, dialectOf, type ToolCall, toolCallFor, type ToolWish } from './llm-dialects.js';

/** A request as it came. */
export interface SeenRequest {
  readonly path: string;
  readonly model: string;
  /** Key that came with it. */
  readonly key: string;
  /** The whole body. */
  readonly text: string;
  /** Whether the client went before the answer was complete. */
  readonly hasGone: () => boolean;
}

/** What it answers. */
export const SERVICE_ANSWER = 'FAKE-ANSWER-42 with ümläuts';
/** What it answers to models whose name ends in `multi`. */
export const SERVICE_PARAGRAPHS = 'First paragraph.\n\n```js\nconst a = 1;\n\nconst b = 2;\n```\n\nLast paragraph.';

const CHUNKS = 4;

/**
 * A service on the loopback that speaks the protocols of Anthropic (messages), OpenAI (chat completions, responses) and
 * Gemini (generateContent), as JSON and as events. The end of the model's name says how it behaves: `ok`, `multi`, `empty`,
 * `error-STATUS`, `hang`, `hangmid` (a piece, then nothing), `tool` (asks for `toolWish` first).
 */
export class LlmService implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  /** Decides on every turn instead of the model's name: a call of a tool, or the text that ends the conversation. */
  script: ((conversation: Conversation) => ToolCall | string) | undefined;
  /** What `tool` asks for, given the text of the request. */
  toolWish: (text: string) => ToolWish = () => ({ command: 'true' });
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request, response);
    });
  }

  static async start(): Promise<LlmService> {
    const service = new LlmService();
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
    const path = request.url ?? '/';
    const dialect = dialectOf(path);
    if (!dialect) {
      sendJson(response, request.method === 'GET' ? 200 : 404, { data: [], error: { message: `no ${path}` } });
      return;
    }
    const body = JSON.parse(text || '{}') as Record<string, unknown>;
    const model = dialect.modelOf(path, body);
    const { headers } = request;
    const key = String(
      headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers['api-key'] ?? headers.authorization,
    );
    this.seen.push({ path, model, key, text, hasGone: () => response.destroyed && !response.writableFinished });
    await this.#behave(dialect, model.split('/').at(-1) ?? '', { path, body, text }, response);
  }

  async #behave(
    dialect: Dialect,
    model: string,
    request: { readonly path: string; readonly body: Record<string, unknown>; readonly text: string },
    response: ServerResponse,
  ): Promise<void> {
    const turn = this.script?.(conversationOf(request.body));
    if (turn !== undefined) {
      const tool = typeof turn === 'string' ? undefined : turn;
      await send(response, dialect, { ...request, model }, { tool, text: typeof turn === 'string' ? turn : '' });
      return;
    }
    const [, mode = 'ok', status = ''] = /(ok|multi|empty|error|hangmid|hang|tool)(?:-(\d+))?$/.exec(model) ?? [];
    if (mode === 'hang') return;
    if (mode === 'error') {
      sendJson(response, Number(status), dialect.error(Number(status), `FAKE-ERROR ${status}`));
      return;
    }
    const isTool = mode === 'tool' && !dialect.hasToolResult(request.text);
    const wish = this.toolWish(request.text);
    const tool = isTool ? toolCallFor(dialect.toolNames(request.body), wish) : undefined;
    const said = mode === 'tool' && 'answer' in wish ? JSON.stringify(wish.answer) : SERVICE_ANSWER;
    const text = mode === 'empty' ? '' : mode === 'multi' ? SERVICE_PARAGRAPHS : said;
    await send(response, dialect, { ...request, model }, { tool, text, isCut: mode === 'hangmid' });
  }
}

/** Sends an answer as the request asks for it: as JSON, or as events. */
async function send(
  response: ServerResponse,
  dialect: Dialect,
  { model, path, body }: { readonly model: string; readonly path: string; readonly body: Record<string, unknown> },
  answer: { readonly tool: ToolCall | undefined; readonly text: string; readonly isCut?: boolean },
): Promise<void> {
  const { tool, text, isCut = false } = answer;
  if (!dialect.isStreamed(path, body)) {
    sendJson(response, 200, dialect.whole(model, text, tool));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = dialect.events(model, piecesOf(text), tool);
  for (const [index, { name, data }] of events.entries()) {
    if (isCut && index >= events.length / 2) return;
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

function piecesOf(text: string): string[] {
  const length = Math.max(1, Math.ceil(text.length / CHUNKS));
  return Array.from({ length: CHUNKS }, (_, index) => text.slice(index * length, (index + 1) * length));
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
