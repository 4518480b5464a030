import fc from 'fast-check';

/** A request over HTTP. */
export interface FuzzedHttp {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const PATHS = [
  '/mcp',
  '/mcp?tools=all',
  '/mcp?tools=&cwd=%00',
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/models',
  '/v1/models/%2e%2e',
  '/healthz',
  '/readyz',
  '/metrics',
  '/socket.io/?EIO=4&transport=polling',
  '/socket.io/?EIO=3&transport=none&sid=x',
  '/%',
  '//',
];

const MESSAGES: readonly object[] = [
  { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_sessions', arguments: {} } },
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  { model: 'none', messages: [{ role: 'user', content: 'x' }], stream: false },
  { model: 'none', input: 'x', tools: [{ type: 'function', name: 'f', parameters: {} }] },
];

/** JSON of a message with one value replaced, also by one that is nested deep. */
const bodies: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...MESSAGES), fc.nat({ max: 6 }), fc.jsonValue({ maxDepth: 3 }))
  .map(([message, index, value]) => {
    const entries = Object.entries(message);
    return JSON.stringify(
      Object.fromEntries(entries.map((entry, at) => (at === index ? [entry[0], value as unknown] : entry))),
    );
  });

const brokenBodies = fc.oneof(
  fc.constantFrom('', '{', '[]', 'null', '{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}'),
  fc.integer({ min: 1, max: 1000 }).map((depth) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)),
  fc.string({ maxLength: 40 }),
);

const header = (name: string, ...values: string[]) =>
  fc.constantFrom({}, ...values.map((value) => ({ [name]: value })));

const headers: fc.Arbitrary<Record<string, string>> = fc
  .tuple(
    fc.constantFrom('application/json', 'application/json', 'text/plain', 'application/json; charset=utf-16'),
    fc.constantFrom('application/json, text/event-stream', 'application/json, text/event-stream', '*/*', ''),
    header('authorization', 'Bearer x', 'Basic eDp5', 'Bearer'),
    header('mcp-session-id', 'x', ''),
    header('mcp-protocol-version', '2025-06-18', '1999-01-01'),
    header('content-encoding', 'gzip'),
    header('range', 'bytes=0-'),
  )
  .map(
    ([type, accept, ...others]) => Object.assign({ 'content-type': type, accept }, ...others) as Record<string, string>,
  );

/** Requests to every route with messages of MCP and of OpenAI's interface, whole, changed and broken. */
export const httpRequests: fc.Arbitrary<FuzzedHttp> = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD', 'PATCH'),
  path: fc.constantFrom(...PATHS),
  headers,
  body: fc.oneof({ weight: 3, arbitrary: bodies }, { weight: 1, arbitrary: brokenBodies }),
});
