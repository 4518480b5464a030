import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { LlmService, SERVICE_ANSWER, SERVICE_PARAGRAPHS } from '../support/llm/llm-service.js';
import { TestDaemon } from '../support/daemon.js';
import { instanceOf, taggedProcesses } from '../support/processes.js';
import { WireClient } from '../support/wire.js';
import { scratchOf } from '../e2e/llm/support.js';
import { install } from './install.js';
import { REAL_TOOLS } from './tools.js';

/** More than any of them takes to start and answer on a busy machine, in seconds. */
const TIMEOUT_S = 90;
/** Larger than an argument may be. */
const LARGE_PROMPT = `${'word '.repeat(60_000)}THE-END`;

describe.each(REAL_TOOLS)('$package', (tool) => {
  const { name, modelPrefix } = tool;
  let service: LlmService;
  let daemon: TestDaemon;
  let client: WireClient;
  let home: string;
  let program: string;
  /** What the daemon runs anyway: shells that wait, and what starts processes. */
  let calm: number;

  beforeAll(async () => {
    program = install(name, tool.package);
    // Not in /tmp, where codex does not trust its own files.
    mkdirSync(join(homedir(), '.cache'), { recursive: true });
    home = mkdtempSync(join(homedir(), '.cache/shell-adapter-real-clis-'));
    service = await LlmService.start();
    const env = { HOME: home, ...tool.configure(home, service.url) };
    daemon = await TestDaemon.start({
      // Shells that are kept ready come and go; what is left is counted.
      settings: {
        adapter: { prewarm: { sessions: 0, one_shots: 0 } },
        llm: { shell_providers: { [name]: { command: program, env } } },
      },
    });
    client = await WireClient.connect(daemon.url);
    calm = taggedProcesses(instanceOf(daemon.pid)).length;
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const ask = (request: 'llm_call' | 'llm_stream', model: string, content: string, timeout = TIMEOUT_S) =>
    client.request(request, {
      shell_provider: name,
      model: modelPrefix + model,
      messages: [
        { role: 'system', content: 'SYSTEM-MARK' },
        { role: 'user', content },
      ],
      timeout_ms: timeout * 1000,
      call_id: `${request}-${model}`,
    });

  const expectNothingLeft = () =>
    vi.waitFor(
      () => {
        expect(taggedProcesses(instanceOf(daemon.pid)).length).toBeLessThanOrEqual(calm);
        expect(scratchOf(daemon)).toEqual([]);
      },
      { timeout: 10_000, interval: 50 },
    );

  it('tells its version', () => {
    const [, version = ''] = /@([^@]+)$/.exec(tool.package) ?? [];
    expect(execFileSync(program, ['--version'], { encoding: 'utf8', env: { ...process.env, HOME: home } })).toContain(
      version,
    );
  });

  it('answers, with usage and session', async () => {
    const answer = await ask('llm_call', 'fake-ok', 'hello');
    expect(answer).toMatchObject({
      content: SERVICE_ANSWER,
      usage: { prompt_tokens: expect.any(Number) as number, completion_tokens: expect.any(Number) as number },
      session: expect.stringMatching(/^\S{20,}$/) as string,
    });
    expect(service.seen.some(({ text, model }) => text.includes('SYSTEM-MARK') && model === 'fake-ok')).toBe(true);
    await expectNothingLeft();
  });

  it('streams', async () => {
    const { content } = await ask('llm_stream', 'fake-ok', 'hello');
    const chunks = client.all('llm_chunk').map((chunk) => chunk.content);
    expect(content).toBe(SERVICE_ANSWER);
    expect(chunks.join('')).toBe(SERVICE_ANSWER);
    expect(chunks.length > 1).toBe(tool.hasDeltas);
  });

  it('takes a large prompt whole, and gives all paragraphs of an answer', async () => {
    const { content } = await ask('llm_call', 'fake-multi', LARGE_PROMPT);
    expect(content).toBe(SERVICE_PARAGRAPHS);
    expect(service.seen.some(({ text }) => text.includes(LARGE_PROMPT))).toBe(true);
  });

  it('says that a key is refused', async () => {
    const { error } = await ask('llm_call', 'fake-error-401', 'hello');
    expect(error).toMatchObject({
      code: 'LLM_AUTH',
      details: { detail: expect.stringContaining('FAKE-ERROR 401') as string },
    });
  });

  it('changes no file for the model', async () => {
    service.toolWish = () => ({ command: 'echo ran > proof.txt' });
    await ask('llm_call', 'fake-tool', 'hello');
    expect(existsSync(join(daemon.workspace, 'proof.txt'))).toBe(false);
  });

  it('runs into its time-out when the service does not answer, with all its processes', async () => {
    const { error } = await ask('llm_call', 'fake-hang', 'hello', 8);
    expect(error?.code).toBe('LLM_TIMEOUT');
    await expectNothingLeft();
  });

  it('is cancelled with all its processes', async () => {
    const before = service.seen.length;
    const answering = ask('llm_call', 'fake-hang', 'hello');
    await vi.waitFor(
      () => {
        expect(service.seen.length).toBeGreaterThan(before);
      },
      { timeout: 60_000, interval: 50 },
    );
    await client.request('cancel_llm', { call_id: 'llm_call-fake-hang' });
    expect((await answering).error?.code).toBe('LLM_CANCELLED');
    await expectNothingLeft();
  });
});
