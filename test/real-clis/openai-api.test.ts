import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LlmService } from '../support/llm/llm-service.js';
import { TestDaemon } from '../support/daemon.js';
import { install } from './install.js';
import { REAL_TOOLS } from './tools.js';

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const ADA = { name: 'Ada', age: 36 };

/** A home that is not in /tmp, where codex does not trust its own files. */
function makeHome(): string {
  mkdirSync(join(homedir(), '.cache'), { recursive: true });
  return mkdtempSync(join(homedir(), '.cache/shell-adapter-real-clis-'));
}

describe.each(REAL_TOOLS.filter(({ name }) => ['claude', 'codex', 'qwen'].includes(name)))(
  'structured output of $package',
  ({ name, package: spec, configure }) => {
    let service: LlmService;
    let daemon: TestDaemon;
    let home: string;

    beforeAll(async () => {
      home = makeHome();
      service = await LlmService.start();
      service.toolWish = () => ({ answer: ADA });
      const env = { HOME: home, ...configure(home, service.url) };
      const provider = { command: install(name, spec), env, model: 'fake-tool' };
      daemon = await TestDaemon.start({ settings: { llm: { shell_providers: { [name]: provider } } } });
    });

    afterAll(async () => {
      await daemon[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    });

    it('is what the model gives for the JSON Schema of a request', async () => {
      const client = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: 'local' });
      const response_format = { type: 'json_schema', json_schema: { name: 'person', schema: SCHEMA } } as const;
      const messages = [{ role: 'user' as const, content: 'hello' }];
      const { choices } = await client.chat.completions.create({ model: name, messages, response_format });
      expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual(ADA);
      expect(service.seen.some(({ text }) => text.includes('"age"'))).toBe(true);
    });
  },
);

describe('codex with a model of ours', () => {
  let daemon: TestDaemon;
  let home: string;

  beforeAll(async () => {
    home = makeHome();
    const echo = { command: 'sh', args: ['-c', 'cat >/dev/null; echo an answer of ours'] };
    daemon = await TestDaemon.start({ settings: { llm: { shell_providers: { echo } } } });
    const lines = [
      'model_provider = "adapter"',
      'model = "echo"',
      '[model_providers.adapter]',
      'name = "adapter"',
      `base_url = "${daemon.url}/v1"`,
      'wire_api = "responses"',
    ];
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), `${lines.join('\n')}\n`);
  });

  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  it('takes its answers by POST /v1/responses', async () => {
    const codex = REAL_TOOLS.find(({ name }) => name === 'codex');
    const file = install('codex', codex?.package ?? '');
    const env = { PATH: process.env['PATH'], HOME: home };
    const output = await new Promise<string>((resolve, reject) => {
      const args = ['exec', '--json', '--skip-git-repo-check', '-'];
      const running = execFile(file, args, { cwd: home, env, timeout: 60_000 }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${stdout}\n${stderr}`, { cause: error }));
        else resolve(stdout);
      });
      running.stdin?.end('hello');
    });
    expect(output).toContain('"text":"an answer of ours');
    expect(output).toContain('"type":"turn.completed"');
  });
});
