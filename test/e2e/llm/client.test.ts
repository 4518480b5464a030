import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type AdapterClient, connect } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';
import { callCli } from '../cli/in-process.js';
import { CliProcess } from '../cli/support.js';
import { behaving, expectNothingLeft, samplePath, sleepers, uniqueSleep } from './support.js';
import { eventually } from '../../support/measure.js';

const SLEEP = uniqueSleep(7201);

let daemon: TestDaemon;
let client: AdapterClient;

beforeAll(async () => {
  daemon = await TestDaemon.startCold({
    settings: {
      adapter: { kill_grace: 0.3 },
      llm: {
        fallback: ['upper'],
        shell_providers: {
          upper: behaving('upper'),
          slow: behaving('slow'),
          forking: behaving('forking', SLEEP),
          failing: behaving('failing', 3, 'it broke'),
          claude: { ...behaving('replay', samplePath('claude-answer')) },
        },
      },
    },
  });
  client = await connect(daemon.url);
});

afterAll(async () => {
  try {
    await expectNothingLeft(daemon, SLEEP);
  } finally {
    await client.close();
    await daemon[Symbol.asyncDispose]();
  }
});

describe('the client', () => {
  it('asks an LLM', async () => {
    expect(await client.llmCall('hello')).toMatchObject({ content: 'HELLO', shell_provider: 'upper' });
    const messages = [
      { role: 'system' as const, content: 'a' },
      { role: 'user' as const, content: 'b' },
    ];
    expect((await client.llmCall(messages, { provider: 'shell' })).content).toBe('SYSTEM: A\n\nB');
  });

  it('gives the answer as it comes', async () => {
    const stream = client.llmStream('hello', { shellProvider: 'slow' });
    const chunks: string[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.join('')).toBe('one two three ');
    expect(await stream).toMatchObject({ content: 'one two three', chunk_count: chunks.length });
  });

  it('gives each of two streams its own pieces', async () => {
    const read = async (prompt: string) => {
      let text = '';
      for await (const chunk of client.llmStream(prompt)) text += chunk;
      return text;
    };
    expect(await Promise.all([read('left'), read('right')])).toEqual(['LEFT', 'RIGHT']);
  });

  it.each(['llmCall', 'llmStream'] as const)('%s rejects with what went wrong', async (method) => {
    await expect(client[method]('hello', { shellProvider: 'failing' })).rejects.toMatchObject({ code: 'LLM_FAILED' });
  });

  it('throws in a loop what went wrong', async () => {
    const chunks: string[] = [];
    const reading = (async () => {
      for await (const chunk of client.llmStream('hello', { shellProvider: 'failing' })) chunks.push(chunk);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'LLM_FAILED' });
    expect(chunks.join('')).toBe('it broke\n');
  });

  it('takes a time-out in milliseconds', async () => {
    const answering = client.llmCall('hello', { shellProvider: 'forking', timeoutMs: 200 });
    await expect(answering).rejects.toMatchObject({ code: 'LLM_TIMEOUT' });
  });

  it('ends the call when its signal is aborted', async () => {
    const controller = new AbortController();
    const stream = client.llmStream('hello', { shellProvider: 'forking', signal: controller.signal });
    for await (const chunk of stream) {
      expect(chunk).toBe('begun\n');
      break;
    }
    controller.abort(new Error('enough'));
    await expect(stream).rejects.toThrow('enough');
    await expectNothingLeft(daemon, SLEEP);
    await expect(client.llmCall('hello', { signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('shell-adapter llm', () => {
  const llm = (args: readonly string[], input = '') => callCli(['llm', '--url', daemon.url, ...args], { input });

  it.each([
    [['hello'], '', 'HELLO\n'],
    [[], 'from a pipe', 'FROM A PIPE\n'],
    [['first'], 'then', 'FIRST\n\nTHEN\n'],
    [['--system', 'brief', 'hello'], '', 'SYSTEM: BRIEF\n\nHELLO\n'],
    [['--stream', '--shell-provider', 'slow', 'hello'], '', 'one two three \n'],
    [['--provider', 'shell', '--timeout', '5', 'hello'], '', 'HELLO\n'],
  ])('%j with %j on standard input', async (args, input, stdout) => {
    expect(await llm(args, input)).toMatchObject({ code: 0, stdout, stderr: '' });
  });

  it('prints JSON', async () => {
    const { stdout } = await llm(['--json', '--shell-provider', 'claude', 'hello']);
    expect(JSON.parse(stdout)).toMatchObject({ shell_provider: 'claude', usage: { prompt_tokens: 144 } });
  });

  it('lists who can be asked', async () => {
    const { code, stdout } = await llm(['--list']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^shell +upper +yes +\/.*fake-cli\.sh$/m);
    expect(stdout).toMatch(/^Used without --provider, in this order: upper$/m);
    expect(JSON.parse((await llm(['--list', '--json'])).stdout)).toHaveProperty('providers');
  });

  it.each([
    [[], 2, 'there is no prompt'],
    [['--shell-provider', 'nobody', 'x'], 1, 'there is no shell provider "nobody"'],
    [['--shell-provider', 'failing', 'x'], 1, 'failing failed with exit code 3: it broke'],
    [['--provider', 'bard', 'x'], 2, 'provider'],
  ])('%j ends with %i: %s', async (args, exitCode, message) => {
    const { code, stdout, stderr } = await llm(args);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('does not wait for a standard input that never ends when it is told not to', async () => {
    await using asking = new CliProcess(['llm', '--url', daemon.url, '--no-stdin', 'hello'], { input: { open: true } });
    expect(await asking.ended).toMatchObject({ code: 0, stdout: 'HELLO\n' });
  });

  it('says what is wrong with a standard input that is no text', async () => {
    const call = new CliProcess(['llm', '--url', daemon.url], { input: Buffer.from([0x61, 0xff]) });
    const { code, stdout, stderr } = await call.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Convert it to text first');
  });

  it('takes the tool with it when it is interrupted', async () => {
    await using asking = new CliProcess(['llm', '--url', daemon.url, '--stream', '--shell-provider', 'forking', 'x'], {
      input: '',
    });
    await asking.until('stdout', /begun/);
    await eventually(() => {
      expect(sleepers(SLEEP).length).toBeGreaterThan(0);
    });
    asking.child.kill('SIGINT');
    await asking.ended;
    await expectNothingLeft(daemon, SLEEP);
  });
});

describe('shell-adapter doctor', () => {
  it('tells the versions of the tools, and waits for none that does not', async () => {
    const config = `${daemon.directory}/config.yaml`;
    const { stdout } = await callCli(['doctor', '--json', '--config', config]);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; detail: string }[] };
    expect(checks.find(({ name }) => name === 'upper')).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('does not tell its version') as string,
    });
  });
});
