import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { io } from 'socket.io-client';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { McpClient } from '../../support/network/mcp.js';
import { PYTHON, pythonObstacle } from '../../support/python.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGE = 'docs/develop/add-a-request.md';
const COPIED = [
  'src',
  'scripts',
  'docs/reference',
  'docs/develop',
  'clients/python',
  'config',
  'package.json',
  'test/conformance',
];
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json'];
/** Compiling the project twice and describing it takes minutes on a busy machine; only a hang takes longer. */
const COMPILING_MS = 600_000;
const COMPILER = 'node_modules/@typescript/native/bin/tsc';

/** A copy of the project, in which the page of a new request is followed. */
let copy = '';
const at = (path: string) => join(copy, path);
let starting: Promise<TestDaemon> | undefined;
let daemon: TestDaemon;

/** The code of the page, in its order. */
const codeOf = (page: string): string[] => [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = '']) => code);

/** Puts code in front of the line that ends a list. */
function addTo(path: string, list: RegExp, code: string): void {
  const text = readFileSync(at(path), 'utf8');
  const begin = text.search(list);
  expect(begin, `${path} has no ${String(list)}`).toBeGreaterThan(0);
  const end = begin + text.slice(begin).search(/^[\]}]/m);
  writeFileSync(at(path), text.slice(0, end) + code + text.slice(end));
}

const run = async (file: string, args: readonly string[], cwd = copy): Promise<string> =>
  (await promisify(execFile)(file, args, { cwd, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } })).stdout;

const node = (...args: readonly string[]): string =>
  execFileSync(process.execPath, args, { cwd: copy, encoding: 'utf8', maxBuffer: 10_000_000 });

beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), 'shell-adapter-new-request-'));
  for (const path of [...COPIED, ...SETTINGS]) cpSync(join(ROOT, path), at(path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), at('node_modules'));
  const [definition = '', handler = '', tool = ''] = codeOf(readFileSync(join(ROOT, PAGE), 'utf8'));
  addTo('src/core/protocol/requests/daemon.ts', /^export const daemonRequests/m, definition);
  addTo('src/transports/dispatch.ts', /^const handlers:/m, handler);
  addTo('src/core/tools/tools.ts', /^const OTHER_TOOLS:/m, tool);
  node('scripts/build/compile.mjs');
  node('scripts/generate-docs.mjs');
  // With the types: what the definition and the handler do not fit is an error.
  node(join(ROOT, COMPILER), '-p', 'tsconfig.build.json', '--noEmit');
  starting = TestDaemon.startCold({ command: [process.execPath, at('dist/main.js'), 'serve'] });
  daemon = await starting;
}, COMPILING_MS);
afterAll(async () => {
  // However far it has come, or failed.
  const [started] = await Promise.allSettled([starting]);
  if (started.status === 'fulfilled') await started.value?.[Symbol.asyncDispose]();
  rmSync(copy, { recursive: true, force: true });
}, COMPILING_MS);

const PAYLOAD = { time_zone: 'Pacific/Kiritimati' };
const ANSWER = { time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string };

it('is answered on Socket.IO, and described there', async () => {
  const socket = io(daemon.url, { transports: ['websocket'], reconnection: false });
  try {
    expect(await socket.emitWithAck('read_clock', PAYLOAD)).toEqual(ANSWER);
    expect(await socket.emitWithAck('read_clock', { zone: 'UTC' })).toMatchObject({
      error: { code: 'INVALID_REQUEST' },
    });
    expect(await socket.emitWithAck('read_clok', {})).toMatchObject({
      error: { code: 'UNKNOWN_REQUEST', message: expect.stringContaining('read_clock') as string },
    });
  } finally {
    socket.disconnect();
  }
  expect(JSON.stringify(await (await fetch(new URL('/asyncapi.json', daemon.url))).json())).toContain('read_clock');
});

it('is answered over HTTP, and described in OpenAPI', async () => {
  const url = new URL('/v1/requests/read_clock', daemon.url);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(PAYLOAD) });
  expect(await response.json()).toEqual(ANSWER);
  const { paths } = (await (await fetch(new URL('/openapi.json', daemon.url))).json()) as { paths: object };
  expect(paths).toHaveProperty(
    '/v1/requests/read_clock.post.summary',
    'Tells what time it is on the machine of the daemon.',
  );
});

it('is made by the client and by the command line', async () => {
  const program = `
    import { connect } from '${at('dist/client/index.js')}';
    const client = await connect('${daemon.url}');
    console.log(JSON.stringify(await client.request('read_clock', ${JSON.stringify(PAYLOAD)})));
    await client.close();`;
  expect(JSON.parse(await run(process.execPath, ['--input-type=module', '-e', program]))).toEqual(ANSWER);
  const request = ['request', 'read_clock', JSON.stringify(PAYLOAD), '--url', daemon.url];
  expect(JSON.parse(await run(process.execPath, [at('dist/main.js'), ...request]))).toEqual(ANSWER);
});

it('is a tool of models, with the words for them', async () => {
  await using client = await McpClient.connect(daemon.url, { over: 'http', mode: 'auto' });
  const { tools } = await client.client.listTools();
  expect(tools.find(({ name }) => name === 'read_clock')).toMatchObject({
    inputSchema: {
      properties: { time_zone: { type: 'string', description: 'Such as Europe/Berlin; UTC by default' } },
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  });
  expect(await client.call('read_clock', PAYLOAD)).toEqual({ isError: false, answer: ANSWER });
  expect((await client.call('read_clock', { zone: 'UTC' })).answer).toMatchObject({
    error: { code: 'INVALID_REQUEST' },
  });
});

it.skipIf(pythonObstacle !== undefined)('is a method of the Python client, with types', async () => {
  const program = `
import asyncio, json
from shell_adapter import connect_async
async def ask():
    client = await connect_async(${JSON.stringify(daemon.url)})
    answer = await client.requests.read_clock(time_zone=${JSON.stringify(PAYLOAD.time_zone)})
    await client.close()
    print(json.dumps(answer))
asyncio.run(ask())`;
  expect(JSON.parse(await run(PYTHON, ['-c', program], at('clients/python')))).toEqual(ANSWER);
  expect(readFileSync(at('clients/python/shell_adapter/models.py'), 'utf8')).toContain('class ReadClockRequest(');
});

it('is in the audit log, in the metrics and in the reference', async () => {
  const records = readFileSync(daemon.auditFile, 'utf8').trimEnd().split('\n');
  expect(records.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ event: 'request', request: 'read_clock' }),
  );
  expect(await (await fetch(new URL('/metrics', daemon.url))).text()).toContain('request="read_clock"');
  const reference = readFileSync(at('docs/reference/protocol.md'), 'utf8');
  expect(reference).toContain('### `read_clock`\n\nTells what time it is');
  expect(reference).toContain('Name of the IANA database');
});
