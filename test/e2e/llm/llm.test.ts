import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../support/daemon.js';
import { PROCESS_HANG_MS } from '../../support/hang.js';
import { WireClient } from '../../support/wire.js';
import { behaving, expectNothingLeft, samplePath, scratchOf, sleepers, uniqueSleep } from './support.js';
import { eventually } from '../../support/measure.js';

const USER = (content: string) => [{ role: 'user' as const, content }];

/** One duration per tool, so that tests do not see each other's processes. */
const SLEEP = {
  silent: uniqueSleep(7001),
  stubborn: uniqueSleep(7002),
  forking: uniqueSleep(7003),
  leaving: uniqueSleep(7004),
  lingering: uniqueSleep(7005),
  gone: uniqueSleep(7006),
  queue: uniqueSleep(7007),
  stop: uniqueSleep(7008),
};

const PROVIDERS = {
  upper: behaving('upper'),
  inspect: {
    ...behaving('inspect', '-x'),
    env: { MARK: 'mine', SECRET_KEY: 'very-secret-value' },
    model_flag: '-m',
    system_flag: '-s',
  },
  file: { ...behaving('inspect', '--in={input_file}'), stdin_mode: 'file' },
  argument: { ...behaving('inspect'), prompt_flag: '-p' },
  slow: behaving('slow'),
  silent: behaving('silent', SLEEP.silent),
  idle: { ...behaving('silent', SLEEP.silent), idle_timeout: 0.3 },
  impatient: { ...behaving('silent', SLEEP.silent), timeout: 0.3 },
  closing: behaving('closing', SLEEP.silent),
  stubborn: behaving('stubborn', SLEEP.stubborn),
  forking: behaving('forking', SLEEP.forking),
  leaving: behaving('leaving', SLEEP.leaving),
  noisy: behaving('noisy'),
  large: behaving('large', 3_000_000),
  flood: behaving('flood'),
  killed: behaving('killed'),
  failing: behaving('failing', 3, 'it broke'),
  leaking: { ...behaving('failing', 1, 'key very-secret-value is wrong'), env: { KEY: 'very-secret-value' } },
  unauthorized: behaving('failing', 1, '', 'Not logged in · Please run /login'),
  limited: behaving('failing', 144, '', 'API Error: 429 rate limit'),
  empty: behaving('empty'),
  bytes: behaving('bytes'),
  temporary: behaving('temporary'),
  missing: { command: 'no-such-tool-anywhere' },
  small: { ...behaving('upper'), max_prompt_bytes: 10 },
  lingering: { ...behaving('lingering', samplePath('claude-answer'), SLEEP.lingering), driver: 'claude' },
  qwen_error: { ...behaving('replay', samplePath('qwen-error')), driver: 'qwen' },
  claude_answer: { ...behaving('replay', samplePath('claude-answer')), driver: 'claude' },
  deaf: behaving('deaf'),
  coloured: behaving('coloured'),
  torn: { ...behaving('torn'), driver: 'claude' },
  json: { ...behaving('json'), driver: 'claude' },
  marked: { ...behaving('marked'), driver: 'claude' },
  gone: behaving('forking', SLEEP.gone),
  queue: { ...behaving('silent', SLEEP.queue), concurrency: 1 },
  stop: behaving('forking', SLEEP.stop),
  tac: {},
  last: { ...behaving('failing', 0, 'log\n\nthe last block'), output: 'last_block' },
};

let daemon: TestDaemon;
let client: WireClient;

beforeAll(async () => {
  daemon = await TestDaemon.startCold({
    settings: {
      adapter: { kill_grace: 0.3 },
      socketio: { max_message_bytes: 20_000_000 },
      llm: {
        shell_providers: PROVIDERS,
        fallback: ['missing', 'unauthorized', 'upper'],
        queue_limit: 1,
        max_timeout: 60,
      },
    },
    env: { ANTHROPIC_API_KEY: 'of-the-daemon', OPENAI_API_KEY: '', OTHER_SECRET: 'x' },
  });
  client = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  try {
    await expectNothingLeft(daemon, ...Object.values(SLEEP));
  } finally {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  }
});

/** `timeout` is the former name of `timeout_ms`, in seconds: the daemon takes it, and the types no longer have it. */
const call = (
  shellProvider: keyof typeof PROVIDERS,
  options: Partial<RequestInput<'llm_call'>> & { readonly timeout?: number } = {},
) =>
  client.request('llm_call', { provider: 'shell', shell_provider: shellProvider, messages: USER('hello'), ...options });

const stream = (shellProvider: keyof typeof PROVIDERS, options: Partial<RequestInput<'llm_stream'>> = {}) =>
  client.request('llm_stream', { shell_provider: shellProvider, messages: USER('hello'), ...options });

const chunksOf = (callId: string) => client.all('llm_chunk').filter(({ call_id: id }) => id === callId);

interface Inspection {
  readonly args: readonly string[];
  readonly stdin: string | null;
  readonly file: { readonly content: string; readonly mode: number } | null;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const inspect = async (name: 'inspect' | 'file' | 'argument', options: Partial<RequestInput<'llm_call'>> = {}) =>
  JSON.parse((await call(name, options)).content) as Inspection;

describe('llm_call', () => {
  it('runs a tool of the configuration and gives what it prints', async () => {
    const { duration_ms: duration, call_id: id, resource_usage: use, ...answer } = await call('upper');
    expect(answer).toEqual({
      content: 'HELLO',
      usage: {},
      provider: 'shell',
      shell_provider: 'upper',
      model: null,
      session: null,
    });
    expect(duration).toBeGreaterThan(0);
    // Null where the process had ended before it could be measured.
    expect(use?.cpu_ms ?? 0).toBeGreaterThanOrEqual(0);
    expect(id).toMatch(/^call_/);
  });

  it('runs the program of the entry’s name when it names no other', async () => {
    expect((await call('tac', { messages: USER('one\ntwo\n') })).content).toBe('two\none');
  });

  it('makes one prompt of a conversation', async () => {
    const messages: RequestInput<'llm_call'>['messages'] = [
      { role: 'system', content: 'be terse' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ];
    expect((await call('upper', { messages })).content).toBe('SYSTEM: BE TERSE\n\nONE\n\nASSISTANT: TWO\n\nTHREE');
  });

  it('gives a tool its arguments, its variables and the workspace, and no secrets of the daemon', async () => {
    const messages = [{ role: 'system' as const, content: 'S' }, ...USER('$(id) `id`\n\u{1f600}')];
    const { args, stdin, cwd, env } = await inspect('inspect', { messages, model: 'large' });
    expect(args).toEqual(['-x', '-m', 'large', '-s', 'S']);
    expect(stdin).toBe('$(id) `id`\n\u{1f600}');
    expect(cwd).toBe(daemon.workspace);
    expect(env).toMatchObject({ MARK: 'mine', PAGER: 'cat' });
    expect(Object.keys(env)).not.toContain('OTHER_SECRET');
    expect(Object.keys(env)).not.toContain('ANTHROPIC_API_KEY');
  });

  it('puts the prompt into a file of this user’s own, and nothing on standard input', async () => {
    const { file, stdin, args, env } = await inspect('file');
    expect(file).toEqual({ content: 'hello', mode: 0o600 });
    expect(stdin).toBeNull();
    expect(args[0]).toContain(env['TMPDIR']);
    expect(scratchOf(daemon)).toEqual([]);
  });

  it('gives the prompt as an argument', async () => {
    expect(await inspect('argument')).toMatchObject({ args: ['-p', 'hello'], stdin: null });
    const long = 'x'.repeat(200_000);
    expect(await inspect('argument', { messages: USER(long) })).toMatchObject({ args: [], stdin: long });
  });

  it('takes a prompt of ten megabytes', async () => {
    const { content } = await call('upper', { messages: USER('word '.repeat(2_000_000)) });
    expect(content).toBe('WORD '.repeat(2_000_000).trim());
  });

  it('runs a tool below the workspace, and nowhere else', async () => {
    mkdirSync(join(daemon.workspace, 'sub'), { recursive: true });
    symlinkSync('/etc', join(daemon.workspace, 'out'));
    expect((await inspect('inspect', { cwd: 'sub' })).cwd).toBe(join(daemon.workspace, 'sub'));
    for (const cwd of ['..', '/', 'out', tmpdir(), 'missing']) {
      expect((await call('upper', { cwd })).error?.code, cwd).toBe('BAD_DIRECTORY');
    }
  });

  it('gives the usage, model and session that a tool tells', async () => {
    const answer = await call('claude_answer');
    expect(answer).toMatchObject({
      content: expect.stringMatching(/^FAKE-ANSWER-42/) as string,
      usage: { prompt_tokens: 144, completion_tokens: 22 },
      model: 'fake-model',
      session: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
  });

  it.each([
    ['noisy', 'answer'],
    ['bytes', 'ä€😀'],
    ['slow', 'one two three'],
    ['leaving', 'answer'],
    ['last', 'the last block'],
    ['deaf', 'answer'],
    ['coloured', 'green answer'],
    ['json', '{"verdict":"approve","reason":"because"}'],
    ['marked', 'answer'],
  ] as const)('%s', async (name, content) => {
    expect((await call(name)).content).toBe(content);
  });

  it('a prompt that is larger than any pipe, for a tool that does not read it', async () => {
    expect((await call('deaf', { messages: USER('x'.repeat(3_000_000)) })).content).toBe('answer');
  });

  it('takes a large answer', async () => {
    expect((await call('large')).content.length).toBe(3_000_000);
  });

  it('removes what a tool leaves in its temporary directory', async () => {
    const { content } = await call('temporary');
    expect(content).toMatch(/shell-adapter-scratch/);
    expect(scratchOf(daemon)).toEqual([]);
  });

  it('does not wait for a tool that has closed its output and does not end', async () => {
    expect((await call('closing')).content).toBe('answer');
    await expectNothingLeft(daemon, SLEEP.silent);
  });

  it('does not wait for a tool that is done and does not end', async () => {
    const { content, duration_ms: duration } = await call('lingering');
    expect(content).toMatch(/^FAKE-ANSWER-42/);
    expect(duration).toBeLessThan(PROCESS_HANG_MS);
    expect(sleepers(SLEEP.lingering)).toEqual([]);
  });
});

describe('a call that fails', () => {
  it.each([
    ['failing', 'LLM_FAILED', { exit_code: 3, detail: 'it broke' }],
    ['killed', 'LLM_FAILED', { exit_code: 137, detail: 'half' }],
    ['unauthorized', 'LLM_FAILED', { exit_code: 1, detail: 'Not logged in · Please run /login' }],
    ['limited', 'LLM_FAILED', { exit_code: 144 }],
    ['qwen_error', 'LLM_AUTH', { exit_code: 0 }],
    ['empty', 'LLM_EMPTY', {}],
    ['flood', 'LLM_FAILED', {}],
    [
      'torn',
      'LLM_FAILED',
      { exit_code: 0, detail: expect.stringMatching(/^its output is no JSON that can be read: /) as string },
    ],
    ['missing', 'LLM_UNAVAILABLE', {}],
    ['small', 'LLM_PROMPT_TOO_LARGE', { max: 10, size: 11 }],
  ] as const)('%s: %s', async (name, code, details) => {
    const { error } = await call(name, { messages: USER('hello world') });
    expect(error).toMatchObject({ code, details: { shell_provider: name, ...details } });
  });

  it('shows no secrets', async () => {
    const { error } = await call('leaking');
    expect(error?.details?.['detail']).toBe('key *** is wrong');
    expect(JSON.stringify(error)).not.toContain('very-secret');
  });

  it.each([
    ['impatient', {}, 'ran into its time-out'],

    ['silent', { timeout_ms: 300 }, 'ran into its time-out'],
    ['idle', {}, 'printed nothing for too long'],
    ['stubborn', { timeout_ms: 300 }, 'ran into its time-out'],
    ['forking', { timeout_ms: 300 }, 'ran into its time-out'],
  ] as const)('%s runs into its time-out, and nothing of it is left', async (name, options, what) => {
    const { error } = await call(name, options);
    expect(error).toMatchObject({ code: 'LLM_TIMEOUT', message: expect.stringContaining(what) as string });
    expect([SLEEP.silent, SLEEP.stubborn, SLEEP.forking].flatMap(sleepers)).toEqual([]);
    expect(scratchOf(daemon)).toEqual([]);
  });

  it('leaves no process that a tool has left behind', async () => {
    expect((await call('leaving')).content).toBe('answer');
    await expectNothingLeft(daemon, SLEEP.leaving);
  });
});

describe('bad input', () => {
  const invalid = (field: string) => ({ code: 'INVALID_REQUEST', details: { problems: [{ field }] } });
  it.each([
    ['no messages', { messages: [] }, invalid('messages')],
    ['messages that are a text', { messages: 'hi' }, invalid('messages')],
    ['a role that is none', { messages: [{ role: 'robot', content: 'x' }] }, invalid('messages.0.role')],
    ['NUL in a message', { messages: USER('a\0b') }, invalid('messages.0.content')],
    ['no content', { messages: [{ role: 'user' }] }, invalid('messages.0.content')],
    ['an empty content', { messages: USER('  ') }, { code: 'INVALID_REQUEST', details: { field: 'messages' } }],
    ['a provider that is none', { provider: 'bard' }, invalid('provider')],
    ['a tool that is none', { shell_provider: 'nobody' }, { code: 'PROVIDER_NOT_FOUND' }],
    ['a tool of a name like __proto__', { shell_provider: '__proto__' }, { code: 'PROVIDER_NOT_FOUND' }],
    ['a tool of a service', { provider: 'openai' }, { code: 'INVALID_REQUEST', details: { field: 'shell_provider' } }],
    ['a model for a tool that takes none', { model: 'x' }, { code: 'LLM_MODEL_NOT_FOUND' }],
    ['no time', { timeout: 0 }, invalid('timeout_ms')],
    ['too much time', { timeout: 61 }, { code: 'INVALID_REQUEST', details: { field: 'timeout_ms', max: 60_000 } }],
    [
      'too many milliseconds',
      { timeout_ms: 60_001 },
      { code: 'INVALID_REQUEST', details: { field: 'timeout_ms', max: 60_000 } },
    ],
    ['half a millisecond', { timeout_ms: 0.5 }, invalid('timeout_ms')],
    ['a time under both names', { timeout_ms: 1000, timeout: 1 }, invalid('timeout')],
    ['an id with blanks', { call_id: 'a b' }, invalid('call_id')],
    ['a field too many', { temperature: 1 }, invalid('temperature')],
  ])('%s', async (_title, changes, error) => {
    const payload = { shell_provider: 'upper', messages: USER('hello'), ...changes };
    const answer: unknown = await client.socket.timeout(2000).emitWithAck('llm_call', payload);
    expect(answer).toMatchObject({ error });
  });

  it('a service that is not configured', async () => {
    const { error } = await client.request('llm_call', { provider: 'openai', messages: USER('hi') });
    expect(error).toMatchObject({ code: 'LLM_UNAVAILABLE', message: 'openai: llm.openai.api_key is not set' });
  });
});

describe('llm_stream', () => {
  it('gives the answer as it is printed, and counts the pieces', async () => {
    const answering = stream('slow', { call_id: 'slowly' });
    await client.event('llm_chunk', ({ call_id: id }) => id === 'slowly');
    const { content, chunk_count: count } = await answering;
    const chunks = chunksOf('slowly');
    expect(chunks.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(chunks.map((chunk) => chunk.content).join('')).toBe('one two three ');
    expect(count).toBeGreaterThanOrEqual(2);
    expect(content).toBe('one two three');
  });

  it('cuts no character', async () => {
    await stream('bytes', { call_id: 'bytes' });
    expect(
      chunksOf('bytes')
        .map(({ content }) => content)
        .join(''),
    ).toBe('ä€😀');
  });

  it('gives no escape sequences, wherever they are cut', async () => {
    await stream('coloured', { call_id: 'coloured' });
    const chunks = chunksOf('coloured').map(({ content }) => content);
    expect(chunks.join('').trim()).toBe('green answer');
  });

  it('gives the pieces of a tool that prints events', async () => {
    const { chunk_count: count } = await stream('claude_answer', { call_id: 'events' });
    expect(count).toBe(4);
    expect(
      chunksOf('events')
        .map(({ content }) => content)
        .join(''),
    ).toMatch(/^FAKE-ANSWER-42 model=fake-model prompt/);
  });

  it('sends nothing to other clients, and nothing for llm_call', async () => {
    await using other = await WireClient.connect(daemon.url);
    await stream('upper');
    await call('upper', { call_id: 'whole' });
    await other.request('list_llm_providers', {});
    expect(other.all('llm_chunk')).toEqual([]);
    expect(chunksOf('whole')).toEqual([]);
  });

  it('fails as llm_call does', async () => {
    expect((await stream('failing')).error).toMatchObject({ code: 'LLM_FAILED' });
    expect((await stream('empty')).error).toMatchObject({ code: 'LLM_EMPTY' });
  });
});

describe('cancellation', () => {
  it('ends all processes of the tool', async () => {
    const answering = stream('gone', { call_id: 'to-cancel' });
    await client.event('llm_chunk', ({ call_id: id }) => id === 'to-cancel');
    await eventually(() => {
      expect(sleepers(SLEEP.gone)).toHaveLength(3);
    });
    expect(await client.request('cancel_llm', { call_id: 'to-cancel' })).toEqual({
      call_id: 'to-cancel',
      cancelled: true,
    });
    expect((await answering).error?.code).toBe('LLM_CANCELLED');
    expect(sleepers(SLEEP.gone)).toEqual([]);
    expect(scratchOf(daemon)).toEqual([]);
  });

  it('is possible at any moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const answering = call('gone', { call_id: `early-${round}` });
      await client.request('cancel_llm', { call_id: `early-${round}` });
      expect((await answering).error?.code).toBe('LLM_CANCELLED');
    }
    expect(sleepers(SLEEP.gone)).toEqual([]);
  });

  it('says when there is no such call', async () => {
    expect(await client.request('cancel_llm', { call_id: 'nothing' })).toEqual({
      call_id: 'nothing',
      cancelled: false,
    });
  });

  it('comes with the end of the connection', async () => {
    const leaving = await WireClient.connect(daemon.url);
    const answering = leaving.request('llm_stream', { shell_provider: 'gone', messages: USER('hi') });
    answering.catch(() => undefined);
    await leaving.event('llm_chunk');
    await leaving[Symbol.asyncDispose]();
    await expectNothingLeft(daemon, SLEEP.gone);
  });

  it('is for one’s own calls', async () => {
    const token = daemon.createToken('agent', 'stranger');
    await using stranger = await WireClient.connect(daemon.url, ['websocket'], { token });
    const answering = stream('gone', { call_id: 'mine' });
    await client.event('llm_chunk', ({ call_id: id }) => id === 'mine');
    expect((await stranger.request('cancel_llm', { call_id: 'mine' })).cancelled).toBe(false);
    // Two tokens may choose the same id.
    const theirs = stranger.request('llm_call', { shell_provider: 'upper', messages: USER('hi'), call_id: 'mine' });
    expect((await theirs).content).toBe('HI');
    expect((await call('upper', { call_id: 'mine' })).error?.code).toBe('INVALID_REQUEST');
    await client.request('cancel_llm', { call_id: 'mine' });
    expect((await answering).error?.code).toBe('LLM_CANCELLED');
  });
});

describe('several calls of one tool', () => {
  it('wait for each other, and not all of them', async () => {
    const running = call('queue', { call_id: 'first', timeout_ms: 20_000 });
    await eventually(() => {
      expect(sleepers(SLEEP.queue)).toHaveLength(1);
    });
    const waiting = call('queue', { call_id: 'second', timeout_ms: 20_000 });
    expect((await call('queue')).error).toMatchObject({ code: 'LLM_RATE_LIMITED' });
    await client.request('cancel_llm', { call_id: 'second' });
    expect((await waiting).error?.code).toBe('LLM_CANCELLED');
    expect((await call('queue', { timeout_ms: 200 })).error).toMatchObject({
      code: 'LLM_TIMEOUT',
      message: expect.stringContaining('busy') as string,
    });
    expect(sleepers(SLEEP.queue)).toHaveLength(1);
    await client.request('cancel_llm', { call_id: 'first' });
    expect((await running).error?.code).toBe('LLM_CANCELLED');
  });
});

describe('who answers', () => {
  it('the first that can, of the tools in their order', async () => {
    for (const provider of ['shell', 'auto', undefined] as const) {
      const answer = await client.request('llm_call', { provider, messages: USER('hi') });
      expect(answer).toMatchObject({ content: 'HI', shell_provider: 'upper' });
    }
  });

  it('is listed', async () => {
    const { providers, auto } = await client.request('list_llm_providers', {});
    const find = (name: string) => providers.find(({ shell_provider: shell }) => shell === name);
    expect(find('upper')).toMatchObject({ provider: 'shell', available: true, reason: null });
    expect(find('missing')).toMatchObject({ available: false, reason: expect.stringContaining('PATH') as string });
    for (const name of ['claude', 'gemini', 'qwen', 'codex', 'cursor-agent', 'opencode'])
      expect(find(name)).toBeDefined();
    expect(providers.filter(({ provider }) => provider !== 'shell').map(({ provider }) => provider)).toEqual([
      'ollama',
      'azure',
      'openai',
      'litellm',
    ]);
    expect(auto).toEqual(['missing', 'unauthorized', 'upper']);
  });

  it('viewers may look, and ask nobody', async () => {
    const token = daemon.createToken('viewer', 'looker');
    await using viewer = await WireClient.connect(daemon.url, ['websocket'], { token });
    expect((await viewer.request('list_llm_providers', {})).auto).toHaveLength(3);
    expect((await viewer.request('llm_call', { messages: USER('hi') })).error?.code).toBe('FORBIDDEN');
  });
});

describe('another daemon', () => {
  it('runs no tool when they are switched off, and says who was asked in vain', async () => {
    const settings = { llm: { shell_providers: { upper: behaving('upper') }, fallback: ['upper'] } };
    await using other = await TestDaemon.startCold({ settings, env: { SHELL_ADAPTER_LLM_SKIP_CLI: '1' } });
    await using their = await WireClient.connect(other.url);
    const { error } = await their.request('llm_call', { provider: 'shell', messages: USER('hi') });
    expect(error).toMatchObject({
      code: 'LLM_UNAVAILABLE',
      message: expect.stringContaining('llm.skip_cli') as string,
    });
  });

  it('ends the tools when it ends, and answers', async () => {
    const settings = { llm: { shell_providers: { stop: PROVIDERS.stop } } };
    await using other = await TestDaemon.startCold({ settings });
    await using their = await WireClient.connect(other.url);
    const answering = their.request('llm_stream', { shell_provider: 'stop', messages: USER('hi') });
    await their.event('llm_chunk');
    expect(await other.stop()).toBe(0);
    expect((await answering).error?.code).toBe('SHUTTING_DOWN');
    expect(sleepers(SLEEP.stop)).toEqual([]);
  });

  it('cleans up after one that was killed', async () => {
    const settings = { llm: { shell_providers: { stop: PROVIDERS.stop } } };
    const killed = await TestDaemon.startCold({ settings });
    const their = await WireClient.connect(killed.url);
    their.request('llm_stream', { shell_provider: 'stop', messages: USER('hi') }).catch(() => undefined);
    await their.event('llm_chunk');
    const [left] = scratchOf(killed);
    expect(left).toBeDefined();
    killed.signal('SIGKILL');
    await killed.exited;
    await using next = await TestDaemon.startCold();
    await expectNothingLeft(next, SLEEP.stop);
    await their[Symbol.asyncDispose]();
    await killed[Symbol.asyncDispose]();
  });
});
