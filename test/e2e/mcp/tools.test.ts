import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { MCP_WAYS, McpClient } from '../../support/network/mcp.js';
import { eventually } from '../../support/measure.js';
import { isRunning } from '../../support/processes.js';

/** Of all ways. */
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());

describe.each(MCP_WAYS)('the tools over MCP by %s', (_, way) => {
  let client: McpClient;

  beforeAll(async () => {
    client = await McpClient.connect(daemon.url, way);
  });

  afterAll(() => client[Symbol.asyncDispose]());

  it('are listed, each with what it does and what it takes', async () => {
    const { tools } = await client.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['run_command', 'open_session', 'execute_command', 'read_output', 'restore_workspace']),
    );
    for (const { description, inputSchema } of tools) {
      expect(description).not.toBe('');
      expect(inputSchema).toMatchObject({ type: 'object' });
    }
    expect(tools.find(({ name }) => name === 'run_command')?.inputSchema).toMatchObject({ required: ['command'] });
  });

  it('run_command gives exit code, stdout and stderr, and nothing else', async () => {
    expect(await client.call('run_command', { command: 'printf out; printf err >&2; exit 3' })).toEqual({
      isError: false,
      answer: { exit_code: 3, stdout: 'out', stderr: 'err' },
    });
  });

  it('run_command gives a program its arguments as they are', async () => {
    const args = ['%s\n', 'two  words', '$HOME', "it's"];
    const { answer } = await client.call('run_command', { command: 'printf', args });
    expect(answer).toEqual({ exit_code: 0, stdout: "two  words\n$HOME\nit's\n", stderr: '' });
  });

  it('run_command ends a command at its time-out, and says so', async () => {
    const { answer } = await client.call('run_command', { command: 'echo begun; sleep 300', timeout_ms: 300 });
    expect(answer).toEqual({
      status: 'timed_out',
      exit_code: 124,
      next: expect.stringContaining('time limit of 300 ms') as string,
      killed_by: 'timeout',
      stdout: 'begun\n',
      stderr: '',
    });
    expect(Object.keys(answer).slice(0, 3)).toEqual(['status', 'exit_code', 'next']);
  });

  it('a session keeps its directory and variables', async () => {
    const { answer } = await client.call('open_session');
    const { session_id } = answer;
    await client.call('execute_command', { session_id, command: 'cd /usr; greeting=hello' });
    const second = await client.call('execute_command', { session_id, command: 'echo "$greeting from $PWD"' });
    expect(second.answer).toMatchObject({ exit_code: 0, stdout: 'hello from /usr\n', working_directory: '/usr' });
    expect((await client.call('list_sessions')).answer).toMatchObject({ sessions: [{ session_id }] });
    await client.call('close_session', { session_id });
    expect((await client.call('list_sessions')).answer).toEqual({ sessions: [] });
  });

  it('a command in the background can be typed into and waited for', async () => {
    const { session_id } = (await client.call('open_session')).answer;
    const command = 'read -p "name? " name; echo "hello $name"';
    const begun = await client.call('execute_command', { session_id, command, background: true });
    expect(begun.answer).toMatchObject({ status: 'running', exit_code: null });
    const { command_id } = begun.answer;
    await eventually(async () => {
      const typed = await client.call(way.mode === 'legacy' ? 'type_input' : 'send_input', {
        command_id,
        data: 'Ada\n',
      });
      expect(typed).toEqual({ isError: false, answer: { accepted_bytes: 4 } });
    });
    const ended = await client.call('wait_command', { command_id });
    expect(ended.answer).toMatchObject({ exit_code: 0, stdout: 'hello Ada\n' });
    await client.call('close_session', { session_id });
  });

  it('a long output fits, and the rest of it can be read', async () => {
    const { answer } = await client.call('run_command', { command: 'seq 1 20000' });
    expect(String(answer['stdout']).length).toBeLessThan(17_000);
    expect(answer).toMatchObject({ original_stdout_size: 108_894, stdout_truncated: true });
    const { command_id } = answer;
    const middle = await client.call('read_output', { command_id, offset: 50_000, length: 12 });
    expect(middle.answer).toMatchObject({ data: '185\n10186\n10', offset: 50_000, size: 108_894 });
    const [, offset] = /offset=(\d+)/.exec(String(answer['next'])) ?? [];
    const rest = await client.call('read_output', { command_id, offset, length: '12' });
    const whole = Array.from({ length: 20_000 }, (__, index) => `${index + 1}\n`).join('');
    expect(rest.answer).toMatchObject({ data: whole.slice(Number(offset), Number(offset) + 12), eof: false });
    expect(whole.startsWith(String(answer['stdout']).slice(0, Number(offset)))).toBe(true);
  });

  it('tells how a command gets on', async () => {
    const told: (string | undefined)[] = [];
    const marker = join(daemon.workspace, 'told');
    const command = `echo one; until [ -e ${marker} ]; do sleep 0.05; done; rm ${marker}; echo done`;
    const running = client.call('run_command', { command }, { onprogress: ({ message }) => told.push(message) });
    await eventually(() => {
      expect(told).toContain('one');
    });
    await client.call('run_command', { command: 'touch', args: [marker] });
    expect((await running).answer).toEqual({ exit_code: 0, stdout: 'one\ndone\n', stderr: '' });
  });

  it('a call that is cancelled ends its command with all it has started', async () => {
    const file = join(daemon.workspace, 'pids');
    const cancel = new AbortController();
    const command = `sleep 300 & setsid sleep 300 & echo $! $$ > ${file}.new; mv ${file}.new ${file}; wait`;
    const running = client.call('run_command', { command }, { signal: cancel.signal });
    const refused = expect(running).rejects.toThrow();
    await eventually(() => {
      expect(existsSync(file)).toBe(true);
    });
    cancel.abort();
    await refused;
    const pids = readFileSync(file, 'utf8').trim().split(' ').map(Number);
    await eventually(() => {
      expect(pids.filter(isRunning)).toEqual([]);
    });
    await client.call('run_command', { command: 'rm', args: [file] });
  });

  it.each([
    ['run_command', {}, 'INVALID_REQUEST', 'command'],
    ['run_command', { command: 'ls', cmd: 'ls' }, 'INVALID_REQUEST', 'there is no field "cmd"'],
    ['run_command', { command: 'ls', timeout: 0 }, 'INVALID_REQUEST', 'timeout_ms'],
    ['run_command', { command: 'ls', cwd: '/nowhere' }, 'BAD_DIRECTORY', '/nowhere'],
    ['execute_command', { session_id: 'session_none', command: 'ls' }, 'SESSION_NOT_FOUND', 'session_none'],
    ['read_output', { command_id: 'none' }, 'COMMAND_NOT_FOUND', 'none'],
  ])('%s %j: %s, for the model to read', async (name, args, code, text) => {
    const { isError, answer } = await client.call(name, args);
    expect(isError).toBe(true);
    expect(answer).toMatchObject({ error: { code }, next: expect.stringMatching(/\w/) as string });
    expect(JSON.stringify(answer)).toContain(JSON.stringify(text).slice(1, -1));
  });

  it('values of another type are taken where nothing else can be meant', async () => {
    const args = { command: 'sh', args: '["-c", "echo $V $1", "sh", "x y"]', env: '{"V":"5"}', timeout: '5000' };
    expect((await client.call('run_command', args)).answer).toEqual({ exit_code: 0, stdout: '5 x y\n', stderr: '' });
  });

  it('a result goes over the wire once, as text', async () => {
    const result = await client.client.callTool({ name: 'run_command', arguments: { command: 'seq 1 20000' } });
    expect(result.structuredContent).toBeUndefined();
    // Two ends of 8000 characters; each line end is two characters of JSON within JSON.
    expect(JSON.stringify(result).length).toBeLessThan(26_000);
  });

  it('an unknown tool is an error of the protocol', async () => {
    await expect(client.call('run_comand', {})).rejects.toThrow('run_comand');
  });
});

describe('where commands may take less time than run_command gives them', () => {
  let hasty: TestDaemon;
  beforeAll(async () => {
    hasty = await TestDaemon.startCold({ settings: { adapter: { command_max_lifetime: 30 } } });
  });
  afterAll(() => hasty[Symbol.asyncDispose]());

  it.each(MCP_WAYS)(
    'run_command takes what is allowed, and names its own argument when more is asked for: %s',
    async (_, way) => {
      await using client = await McpClient.connect(hasty.url, way);
      expect((await client.call('run_command', { command: 'echo hi' })).answer).toMatchObject({ stdout: 'hi\n' });
      expect(await client.call('run_command', { command: 'echo hi', timeout: 30_001 })).toMatchObject({
        isError: true,
        answer: {
          error: {
            code: 'INVALID_REQUEST',
            message: 'timeout_ms: at most 30000 ms (command_max_lifetime of the daemon)',
            details: { field: 'timeout_ms', max: 30_000 },
          },
        },
      });
    },
  );
});
