import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { MCP_WAYS, McpClient } from '../../support/network/mcp.js';
import { eventually } from '../../support/measure.js';

/** The arguments of the call that `next` of an answer is. */
function callIn({ next }: Record<string, unknown>): Record<string, string> {
  const found = String(next).matchAll(/(\w+)='([^']*)'/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

/** More than a request may be, in bytes. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

describe.each(MCP_WAYS)('over MCP by %s', (_, way) => {
  let daemon: TestDaemon;
  let client: McpClient;

  beforeAll(async () => {
    daemon = await TestDaemon.startCold({
      settings: {
        confirmation: { mode: 'self', checkpoint: false },
        socketio: { max_message_bytes: MAX_MESSAGE_BYTES },
      },
    });
    client = await McpClient.connect(daemon.url, way);
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  it('every tool does what it says', async () => {
    const used = new Set<string>();
    const call = async (name: string, args: Record<string, unknown> = {}) => {
      used.add(name);
      const { isError, answer } = await client.call(name, args);
      expect({ name, isError, answer }).toMatchObject({ name, isError: false });
      return answer;
    };
    expect(await call('shell_metadata')).toMatchObject({ workspace_directory: daemon.workspace });
    expect(await call('check_command', { command: 'rm x' })).toMatchObject({ action: 'confirm' });
    writeFileSync(join(daemon.workspace, 'kept'), 'kept\n');
    const { checkpoint_id } = await call('checkpoint_workspace', { label: 'before' });
    expect(await call('list_checkpoints')).toMatchObject({ checkpoints: [{ checkpoint_id }] });

    const asked = await call('run_command', { command: 'rm kept' });
    expect(asked).toMatchObject({ status: 'confirmation_required', reasons: expect.stringMatching(/^rm /) as string });
    expect(JSON.stringify(asked).length).toBeLessThan(300);
    expect(await call('confirm_command', { ...callIn(asked), justification: 'it is saved' })).toMatchObject({
      exit_code: 0,
    });
    expect(existsSync(join(daemon.workspace, 'kept'))).toBe(false);
    expect(await call('diff_workspace', { checkpoint_id })).toMatchObject({
      changes: [expect.objectContaining({ path: 'kept' })],
    });
    await call('restore_workspace', { checkpoint_id });
    expect(readFileSync(join(daemon.workspace, 'kept'), 'utf8')).toBe('kept\n');

    const { session_id } = await call('open_session', { label: 'mine' });
    expect(await call('list_sessions')).toMatchObject({ sessions: [{ session_id, label: 'mine' }] });
    const background = { session_id, background: true };
    const { command_id } = await call('execute_command', { ...background, command: 'read -r line; echo "got $line"' });
    await eventually(() => call('type_input', { command_id, data: 'it\n' }));
    expect(await call('wait_command', { command_id })).toMatchObject({ exit_code: 0, stdout: 'got it\n' });
    expect(await call('read_output', { command_id, offset: 4 })).toMatchObject({ data: 'it\n', eof: true });
    const shown = await call('execute_command', {
      ...background,
      tty: true,
      command: 'read -r x; echo "saw $x"; read -r x',
    });
    expect(shown).toMatchObject({ next: expect.stringMatching(/^wait_for\(.*screen_stable_ms/) as string });
    await eventually(() => call('type_input', { session_id, data: 'me', keys: ['Backspace', 'y', 'Enter'] }));
    const still = await call('wait_for', { session_id, screen_text: 'saw .y', regex: true });
    expect(still).toMatchObject({
      met: true,
      condition: 'screen_text',
      screen: { text: expect.stringContaining('saw my') as string },
    });
    expect(await call('read_screen', { session_id })).toMatchObject({
      running: true,
      text: expect.stringContaining('saw my') as string,
    });
    await call('type_input', { session_id, keys: ['Enter'] });
    expect(await call('wait_for', { command_id: shown['command_id'] })).toEqual({
      exit_code: 0,
      met: true,
      condition: 'end',
    });
    expect(await call('wait_for', { path: 'never', timeout_ms: 1 })).toMatchObject({
      met: false,
      next: expect.stringContaining('same call again') as string,
    });
    expect(await call('list_ports', { session_id })).toEqual({ ports: [] });
    const sleeping = await call('execute_command', { ...background, command: 'echo up; exec sleep 300' });
    await eventually(() => call('signal_command', { command_id: sleeping['command_id'], signal: 'SIGINT' }));
    expect(await call('wait_command', { command_id: sleeping['command_id'] })).toMatchObject({ exit_code: 130 });
    await call('execute_command', { session_id, command: 'gone=1' });
    await call('reset_session', { session_id });
    const after = await call('execute_command', { session_id, command: 'echo "<$gone>"' });
    expect(after).toMatchObject({ stdout: '<>\n' });
    await call('close_session', { session_id });

    await call('write_file', { path: 'deep/file', content: 'one\ntwo\n' });
    expect(await call('read_file', { path: 'deep/file', from_line: 2, line_numbers: true })).toMatchObject({
      data: '2\ttwo\n',
      eof: true,
    });
    expect(await call('edit_file', { path: 'deep/file', old_text: 'two', new_text: '2' })).toMatchObject({
      replaced: 1,
      diff: expect.stringContaining('-two\n+2\n') as string,
    });
    await call('write_file', { path: 'long', content: 'a line\n'.repeat(5000) });
    expect(await call('read_file', { path: 'long' })).toMatchObject({ next: "read_file(path='long', from_line=2286)" });
    expect(await call('search_files', { pattern: 'a l[a-z]+e', regex: true, limit: 1 })).toMatchObject({
      matches: [{ path: 'long', line: 1, text: 'a line' }],
      stopped: 'limit',
    });
    const secret = await call('read_file', { path: '.env' });
    expect(secret).toMatchObject({ status: 'confirmation_required' });
    await call('write_file', { path: '.env', content: 'KEY=1' });
    const secretShown = await call('confirm_command', { ...callIn(secret), justification: 'it is an example' });
    expect(secretShown).toEqual({ size: 5, offset: 0, from_line: 1, lines: 1, eof: true, data: 'KEY=1' });

    const { tools } = await client.client.listTools();
    expect([...used].sort()).toEqual(tools.map(({ name }) => name).sort());
  });

  it('calls on one connection run side by side, each with its own answer', async () => {
    const meet = (mine: number, other: number) =>
      `touch met-${mine}; until [ -e met-${other} ]; do sleep 0.02; done; echo ${mine}`;
    const pairs = Array.from({ length: 6 }, (__, index) => meet(index, index ^ 1));
    const answers = await Promise.all(pairs.map((command) => client.call('run_command', { command })));
    expect(answers.map(({ answer }) => answer['stdout'])).toEqual(pairs.map((__, index) => `${index}\n`));
  });

  it.each([
    ['run_command', { command: ['ls'] }, 'command'],
    ['run_command', { command: 'ls', args: 'x' }, 'args'],
    ['run_command', { command: 'a\u0000b' }, 'command'],
    ['type_input', { data: 'x' }, 'command'],
    ['send_input', { data: 'x' }, 'command'],
    ['signal_command', { command_id: 'c', signal: 'SIGNONE' }, 'signal'],
    ['confirm_command', { confirmation_id: 'c', decision: 'perhaps' }, 'decision'],
    ['restore_workspace', {}, 'checkpoint_id'],
    ['open_session', { shell: ['bash'] }, 'shell'],
  ])('%s %j is refused with a word on %s', async (name, args, field) => {
    const { isError, answer } = await client.call(name, args);
    expect({ isError, answer: JSON.stringify(answer) }).toEqual({
      isError: true,
      answer: expect.stringContaining(field) as string,
    });
  });

  it('arguments that are too large are refused, and the connection goes on', async () => {
    const command = `: ${'x'.repeat(MAX_MESSAGE_BYTES)}`;
    const refused = await client.call('run_command', { command }).then(
      ({ isError, answer }) => ({ isError, text: JSON.stringify(answer) }),
      (error: unknown) => ({ isError: true, text: String(error) }),
    );
    expect(refused).toEqual({ isError: true, text: expect.stringMatching(/too large|larger|at most/i) as string });
    expect((await client.call('run_command', { command: 'echo on' })).answer).toMatchObject({ stdout: 'on\n' });
  });
});
