import { describe, expect, it } from 'vitest';

import { ACCESS_MODES, DRIVER_NAMES } from '../../src/core/llm/settings.js';
import { judgeRun } from '../../src/core/llm/failure.js';
import { accessGrant, invocationOf, type ShellProvider } from '../../src/services/llm/invocation.js';
import { DRIVERS } from '../../src/services/llm/shell-catalogue.js';
import { type OutputReader, outputReader } from '../../src/services/llm/output-reader.js';
import { EXPECTATIONS, readSample } from './llm/samples.js';
import { shellSettings } from '../support/llm/llm-settings.js';

const HELLO = [{ role: 'user' as const, content: 'hello' }];
const CONVERSATION = [{ role: 'system' as const, content: 'S' }, ...HELLO];

/** Feeds a text in pieces of a length. */
function read(reader: OutputReader, text: string, length: number): string[] {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += length) {
    reader.push(text.slice(at, at + length));
    chunks.push(...reader.answer.takeChunks());
  }
  reader.end();
  chunks.push(...reader.answer.takeChunks());
  return chunks;
}

describe.each(DRIVER_NAMES)('%s', (name) => {
  const driver = DRIVERS[name];
  const expected = EXPECTATIONS[name];
  const provider: ShellProvider = { name, driver, settings: shellSettings() };
  const reader = () => outputReader(driver, 'auto', false);
  const endOf = ({ answer, noise, isText }: OutputReader, exitCode: number) =>
    judgeRun({
      cause: 'exit',
      exitCode,
      failure: answer.failure,
      failureKind: answer.failureKind,
      isFinished: answer.isFinished,
      isText,
      text: answer.text,
      noise,
      stderr: '',
      exitKinds: driver.exitKinds,
    });

  it('goes by its name', () => {
    expect(driver.name).toBe(name);
    expect(driver.binaries[0]).toBe(name);
  });

  it('is called with its arguments, the model and the system prompt', () => {
    expect(invocationOf(provider, { messages: CONVERSATION, model: 'm-1' }).args).toEqual(expected.args);
  });

  it('gets the prompt where it reads it, and the system prompt once', () => {
    const { args, stdin, inputFile } = invocationOf(provider, { messages: CONVERSATION, model: undefined });
    const prompt = driver.promptBy === 'stdin' ? stdin : args.at(-1);
    expect(inputFile).toBeUndefined();
    expect(prompt).toBe(driver.systemArgs ? 'hello' : 'SYSTEM: S\n\nUSER: hello');
    expect(stdin === undefined).toBe(driver.promptBy === 'argument');
  });

  it.each(['', 'default', 'unknown'])('is told no model for %j', (model) => {
    const { args } = invocationOf(provider, { messages: HELLO, model });
    const plain = [...driver.args, ...expected.access.read];
    expect(args.slice(0, plain.length)).toEqual(plain);
    expect(args.length).toBe(plain.length + (driver.promptBy === 'argument' ? 1 : 0));
  });

  it.each(ACCESS_MODES)('is told that it may %s, by its configuration or for one question', (access) => {
    const asked = { messages: HELLO, model: undefined };
    const configured = invocationOf({ ...provider, settings: shellSettings({ access }) }, asked).args;
    expect(configured).toEqual(invocationOf(provider, { ...asked, access }).args);
    const { length } = driver.args;
    expect(configured.slice(length, length + expected.access[access].length)).toEqual(expected.access[access]);
  });

  it('may only read when the question says so, whatever its configuration grants', () => {
    const asked = { messages: HELLO, model: undefined };
    const granted = { ...provider, settings: shellSettings({ access: 'full' }) };
    expect(invocationOf(granted, { ...asked, isReadOnly: true }).args).toEqual(invocationOf(provider, asked).args);
    expect(accessGrant(granted, { isReadOnly: true })).toEqual(accessGrant(provider, {}));
  });

  it('takes a prompt as large as it may be, and no larger one', () => {
    const ask = (size: number) =>
      invocationOf(provider, { messages: [{ role: 'user', content: 'x'.repeat(size) }], model: undefined });
    expect(() => ask(expected.largest)).not.toThrow();
    expect(() => ask(expected.largest + 1)).toThrow(expect.objectContaining({ code: 'LLM_PROMPT_TOO_LARGE' }) as Error);
  });

  it('gives no argument that is too long for Linux', () => {
    const system = { role: 'system' as const, content: 's'.repeat(120_000) };
    const limited = { ...provider, driver: { ...driver, promptLimit: { max: 1e9, unit: 'bytes' as const } } };
    const { args, stdin } = invocationOf(limited, { messages: [system, ...HELLO], model: undefined });
    expect(args.every((arg) => Buffer.byteLength(arg) < 131_072)).toBe(true);
    expect(stdin).toContain('s'.repeat(120_000));
  });

  it.each([1, 2, 7, 100, 1_000_000])('reads its answer, in pieces of %i characters', (length) => {
    const reading = reader();
    const chunks = read(reading, readSample(name, 'answer'), length);
    const verdict = endOf(reading, 0);
    expect(verdict).toEqual({ ok: true, content: expect.stringMatching(/^FAKE-ANSWER-42 model=fake-model/) as string });
    expect(chunks.join('')).toBe(reading.answer.text);
    expect(chunks).toHaveLength(expected.chunks);
    expect(reading.answer.isFinished).toBe(true);
    expect(reading.answer.session).toMatch(/^\S{20,}$/);
    expect(reading.answer.usage).toEqual(expected.usage);
  });

  it('knows when it is done before it ends', () => {
    const reading = reader();
    reading.push(readSample(name, 'answer'));
    expect(reading.answer.isFinished).toBe(true);
  });

  it.each([1, 1_000_000])('reads its failure, in pieces of %i characters', (length) => {
    if (expected.failedWith === undefined) return;
    const reading = reader();
    read(reading, readSample(name, 'error'), length);
    expect(endOf(reading, expected.failedWith)).toEqual({
      ok: false,
      kind: 'auth',
      what: 'failed',
      detail: expect.stringContaining('FAKE-BACKEND-ERROR 401') as string,
    });
  });

  it('does not mind noise between its events', () => {
    const reading = reader();
    const noisy = readSample(name, 'answer').replaceAll('\n', '\n{ not json\nLoaded cached credentials.\r\n\n');
    const chunks = read(reading, `Warning: something\n${noisy}`, 64);
    expect(chunks.join('')).toMatch(/^FAKE-ANSWER-42/);
    expect(endOf(reading, 0).ok).toBe(true);
    expect(reading.noise).toContain('Loaded cached credentials.');
  });

  it('has failed when it prints nothing, whatever its exit code', () => {
    const silent = reader();
    read(silent, '', 1);
    expect(endOf(silent, 0)).toMatchObject({ ok: false, kind: 'empty' });
    expect(endOf(silent, 1)).toMatchObject({ ok: false, kind: 'failed' });
  });

  it('has failed when it breaks off', () => {
    const reading = reader();
    const lines = readSample(name, 'answer').split('\n').slice(0, 2).join('\n');
    read(reading, lines, 50);
    expect(endOf(reading, 1).ok).toBe(false);
    expect(endOf(reading, 0)).toMatchObject({ ok: false, kind: 'failed' });
  });

  it('may print text, when its arguments are others', () => {
    const reading = outputReader(driver, 'auto', true);
    const chunks = read(reading, 'Plain text.\n\nTwo paragraphs.\n', 5);
    expect(reading.answer.text).toBe('Plain text.\n\nTwo paragraphs.');
    expect(chunks.length).toBeGreaterThan(2);
  });
});

it('gemini is not asked to repeat a large prompt: it could drop its answer', () => {
  const ask = (size: number) =>
    invocationOf(
      { name: 'gemini', driver: DRIVERS.gemini, settings: shellSettings() },
      { messages: [{ role: 'user', content: 'x'.repeat(size) }], model: undefined },
    ).args;
  expect(ask(16 * 1024)).toEqual(['-o', 'stream-json']);
  expect(ask(16 * 1024 + 1)).toEqual(['-o', 'json']);
});

describe('other forms of the tools’ output', () => {
  it.each([
    [
      'claude',
      '{"duration_ms":5,"is_error":false,"result":"one object","type":"result","session_id":"s"}',
      'one object',
    ],
    ['qwen', '[{"type":"system"},\n {"type":"result","is_error":false,"result":"a list"}]\n', 'a list'],
    ['gemini', '{\n  "session_id": "s",\n  "response": "many lines"\n}\n', 'many lines'],
  ] as const)('%s: %j', (name, text, content) => {
    const reading = outputReader(DRIVERS[name], 'auto', true);
    read(reading, text, 3);
    expect(reading.answer.text).toBe(content);
    expect(reading.answer.isFinished).toBe(true);
    expect(reading.noise).toBe('');
  });

  it.each([
    [
      'claude',
      '{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (1)"]}',
    ],
    ['claude', '{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}'],
    ['qwen', '[{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"no auth"}}]'],
    ['gemini', '{"response":"","error":{"type":"INVALID_STREAM","message":"empty"}}'],
    ['codex', '{"type":"turn.failed","error":{"message":"{\\"error\\":{\\"message\\":\\"quota\\"}}"}}'],
    ['opencode', '{"type":"error","error":{"name":"UnknownError","data":{"message":"Unexpected server error"}}}'],
  ] as const)('%s fails: %s', (name, text) => {
    const reading = outputReader(DRIVERS[name], 'auto', false);
    read(reading, `${text}\n`, 10);
    expect(reading.answer.failure).toMatch(/\w/);
    expect(reading.answer.failure).not.toMatch(/^\{/);
  });

  it('what subagents of claude say is not the answer', () => {
    const reading = outputReader(DRIVERS.claude, 'auto', false);
    const delta = (text: string, parent: string | null) =>
      JSON.stringify({
        type: 'stream_event',
        parent_tool_use_id: parent,
        event: { type: 'content_block_delta', delta: { type: 'text_delta', text } },
      });
    expect(read(reading, `${delta('aside', 'toolu_1')}\n${delta('answer', null)}\n`, 1000)).toEqual(['answer']);
  });

  it('warnings of codex are no failures', () => {
    const reading = outputReader(DRIVERS.codex, 'auto', false);
    const events = [
      { type: 'item.completed', item: { type: 'error', message: 'Model metadata not found' } },
      { type: 'error', message: 'Reconnecting… 1/5' },
      { type: 'item.completed', item: { type: 'agent_message', text: 'first' } },
      { type: 'item.completed', item: { type: 'agent_message', text: 'last' } },
      { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
    ];
    const chunks = read(reading, `${events.map((event) => JSON.stringify(event)).join('\n')}\n`, 20);
    expect(reading.answer.failure).toBeUndefined();
    expect(reading.answer.text).toBe('last');
    expect(chunks.join('')).toBe('first\n\nlast');
  });
});

describe('the kind of a failure comes from the tool’s structured error', () => {
  const claudeResult = { type: 'result', subtype: 'success', is_error: true };
  const quoted = (code: number, status: string) =>
    `[API Error: ${JSON.stringify({ error: { code, message: 'the service’s words', status } })}]`;

  it.each([
    ['claude', [{ ...claudeResult, api_error_status: 429, result: 'no' }], 'rate_limited'],
    ['claude', [{ ...claudeResult, api_error_status: 404, result: 'no' }], 'model'],
    [
      'claude',
      [
        { type: 'assistant', error: 'authentication_failed', message: { content: [] } },
        { ...claudeResult, api_error_status: null, result: 'Not logged in' },
      ],
      'auth',
    ],
    ['claude', [{ ...claudeResult, result: 'your quota of 429 files' }], undefined],
    ['qwen', [{ type: 'result', is_error: false, result: '[API Error: 429 Too many]' }], 'rate_limited'],
    ['qwen', [{ type: 'result', is_error: true, error: { message: 'rate limit 429' } }], undefined],
    [
      'gemini',
      [{ type: 'result', status: 'error', error: { message: quoted(429, 'RESOURCE_EXHAUSTED') } }],
      'rate_limited',
    ],
    ['gemini', [{ response: '', error: { type: 'Error', message: 'quota' } }], undefined],
    ['codex', [{ type: 'turn.failed', error: { message: 'unexpected status 401 Unauthorized: x' } }], 'auth'],
    [
      'codex',
      [{ type: 'turn.failed', error: { message: 'exceeded retry limit, last status: 429 Too Many Requests' } }],
      'rate_limited',
    ],
    [
      'codex',
      [{ type: 'turn.failed', error: { message: '{"error":{"message":"m","code":"context_length_exceeded"}}' } }],
      'prompt_too_large',
    ],
    ['codex', [{ type: 'turn.failed', error: { message: 'line 429 of the quota' } }], undefined],
    [
      'opencode',
      [{ type: 'error', error: { name: 'APIError', data: { message: 'm', statusCode: 429 } } }],
      'rate_limited',
    ],
    ['opencode', [{ type: 'error', error: { name: 'ProviderAuthError', data: { message: 'm' } } }], 'auth'],
    ['opencode', [{ type: 'error', error: { name: 'UnknownError', data: { message: '401' } } }], undefined],
  ] as const)('%s: %j is %s', (name, events, kind) => {
    const reading = outputReader(DRIVERS[name], 'auto', false);
    read(reading, events.map((event) => `${JSON.stringify(event)}\n`).join(''), 1000);
    expect(reading.answer.failure).toBeDefined();
    expect(reading.answer.failureKind).toBe(kind);
  });

  it('an error that is overcome leaves no trace', () => {
    const reading = outputReader(DRIVERS.claude, 'auto', false);
    const events = [
      { type: 'assistant', error: 'rate_limit', message: { content: [] } },
      { type: 'assistant', message: { content: [] } },
      { type: 'result', is_error: false, result: 'answer' },
    ];
    read(reading, events.map((event) => `${JSON.stringify(event)}\n`).join(''), 1000);
    expect(reading.answer.failureKind).toBeUndefined();
    expect(reading.answer.text).toBe('answer');
  });
});
