import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ask } from '../../support/http.js';
import { readSamples } from '../../support/network/prometheus.js';
import { WireClient } from '../../support/wire.js';
import { ToolStage } from '../openai/support.js';

const SECRET = 'hunter2-hunter2-ABC';

/** What Claude Code prints when its model says the secret bit by bit. */
const EVENTS = [
  ...Array.from(`the key is ${SECRET}.`, (text) => ({
    type: 'stream_event',
    event: { type: 'content_block_delta', delta: { type: 'text_delta', text } },
    parent_tool_use_id: null,
  })),
  { type: 'result', is_error: false, result: `the key is ${SECRET}.`, usage: { input_tokens: 7, output_tokens: 2 } },
];

const stage = new ToolStage();
let client: WireClient;

beforeAll(async () => {
  const lines = EVENTS.map((event) => JSON.stringify(event)).join('\n');
  stage.tool('claude', `cat >/dev/null; cat <<'END'\n${lines}\nEND`);
  stage.tool(
    'text',
    `cat >/dev/null; printf 'log\\n\\nkey ${SECRET.slice(0, 7)}'; sleep 0.1; echo '${SECRET.slice(7)}'`,
  );
  await stage.start(
    {
      said: { driver: 'claude', repoPath: 'repo' },
      printed: { driver: 'text', repoPath: 'repo' },
      block: { driver: 'text', repoPath: 'repo', normalizer: 'last_block' },
    },
    { shell_providers: { text: { command: `${stage.folder}/bin/text` }, broken: { command: 'false' } } },
    { secrets: { values: [SECRET] } },
  );
  client = await WireClient.connect(stage.daemon.url);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

const messages = [{ role: 'user' as const, content: 'hello' }];

describe('a secret that a model says', () => {
  it.each(['claude', 'text'])('is in no piece of a stream, nor in two of them together: %s', async (name) => {
    const call_id = `call-${name}`;
    const answer = await client.request('llm_stream', { shell_provider: name, messages, call_id });
    const chunks = client.all('llm_chunk').filter((chunk) => chunk.call_id === call_id);
    const text = chunks.map(({ content }) => content).join('');
    expect(text).toContain('***');
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('ABC');
    expect(answer.chunk_count).toBe(chunks.length);
    expect(answer.content).toContain('***');
  });

  it.each(['said', 'printed', 'block'])('is in no chunk of a completion: %s', async (model) => {
    const parts: string[] = [];
    for await (const { choices } of await stage.client().chat.completions.create({ model, messages, stream: true })) {
      parts.push(choices[0]?.delta.content ?? '');
    }
    expect(parts.join('')).toContain('***');
    expect(parts.join('')).not.toMatch(/hunter2|ABC/);
    const { choices } = await stage.client().chat.completions.create({ model, messages });
    expect(choices[0]?.message.content).toMatch(/\*\*\*\.?$/);
  });
});

describe('/metrics', () => {
  const read = async () => readSamples((await ask(new URL('/metrics', stage.daemon.url))).text, 'shell_adapter_');

  it('counts what providers were asked, by name and outcome, with times and tokens; unknown names make no figures', async () => {
    const before = await read();
    await client.request('llm_call', { shell_provider: 'claude', messages });
    await stage.client().chat.completions.create({ model: 'said', messages });
    await client.request('llm_call', { shell_provider: 'broken', messages });
    await client.request('llm_call', { provider: 'openai', messages });
    await client.request('llm_call', { shell_provider: 'nobody-at-all', messages });
    const after = await read();
    const grown = [...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
    const counts = grown.filter(([name, by]) => /^llm_.*(_total|_count)/.test(name) && by !== 0);
    const claude = 'provider="shell",shell_provider="claude"';
    expect(Object.fromEntries(counts)).toEqual({
      [`llm_calls_total{${claude},outcome="ok"}`]: 2,
      'llm_calls_total{provider="shell",shell_provider="broken",outcome="LLM_FAILED"}': 1,
      'llm_calls_total{provider="openai",shell_provider="",outcome="LLM_UNAVAILABLE"}': 1,
      [`llm_call_duration_seconds_count{${claude}}`]: 2,
      'llm_call_duration_seconds_count{provider="shell",shell_provider="broken"}': 1,
      'llm_call_duration_seconds_count{provider="openai",shell_provider=""}': 1,
      [`llm_tokens_total{${claude},kind="prompt"}`]: 14,
      [`llm_tokens_total{${claude},kind="completion"}`]: 4,
    });
    expect(after.get(`llm_calls_running{${claude}}`)).toBe(0);
    expect([...after.keys()].filter((name) => name.includes('nobody-at-all'))).toEqual([]);
  });
});
