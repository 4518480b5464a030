import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Role } from '../../../src/core/principal.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { dataOf, readRecording } from './support.js';

const SECRET = 'sesame-password-of-all';

let daemon: TestDaemon;
let client: WireClient;
const others: WireClient[] = [];

beforeAll(async () => {
  daemon = await TestDaemon.startCold({
    settings: { recording: { roles: ['agent'], max_total_bytes: 1024 ** 3 }, secrets: { values: [SECRET] } },
  });
  client = await WireClient.connect(daemon.url);
});
afterAll(async () => {
  for (const one of [client, ...others]) await one[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

async function come(role: Role): Promise<WireClient> {
  const other = await WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken(role, `the-${role}`) });
  others.push(other);
  return other;
}

interface Opened {
  readonly session: string;
  readonly id: string;
}

async function openRecorded(by: WireClient, record: boolean | null = true): Promise<Opened> {
  const answer = await by.request('open_session', { record, label: 'a label', cols: 80, rows: 24 });
  expect(answer.error).toBeUndefined();
  return { session: answer.session_id, id: answer.recording_id ?? '' };
}

/** Runs a command in the background, answers each wait for input, and waits for the end. */
async function converse(session: string, command: string, answers: readonly string[], tty = true): Promise<void> {
  const { command_id: id } = await client.run(command, session, { background: true, tty });
  for (const [index, data] of answers.entries()) {
    await client.until(() => client.all('awaiting_input').filter(({ command_id }) => command_id === id)[index]);
    expect((await client.request('send_input', { command_id: id, data })).error).toBeUndefined();
  }
  expect(await client.request('wait_command', { command_id: id })).toMatchObject({ status: 'completed' });
}

describe('a recording', () => {
  it('has commands, output, sizes and the end, and is private', async () => {
    const { session, id } = await openRecorded(client);
    expect(await client.request('get_session', { session_id: session })).toMatchObject({ recording_id: id });
    await client.run('echo one; echo two >&2', session);
    await client.run(`printf 'no line end'`, session);
    await client.request('resize_terminal', { session_id: session, cols: 100, rows: 30 });
    await client.run('test -t 1 && echo terminal', session, { tty: true });
    const during = await client.request('list_recordings', { session_id: session });
    expect(during.recordings).toMatchObject([
      { recording_id: id, state: 'recording', owner: 'local', title: 'a label' },
    ]);
    await client.request('close_session', { session_id: session });
    const { cast } = await readRecording(client, id);
    expect(cast.header).toMatchObject({ version: 2, width: 80, height: 24, title: 'a label' });
    const marks = ['echo one; echo two >&2', `printf 'no line end'`, 'test -t 1 && echo terminal'];
    expect(cast.events.flatMap(([, code, data]) => (code === 'm' ? [data] : []))).toEqual(marks);
    expect(dataOf(cast, 'o')).toContain('one\r\n');
    expect(dataOf(cast, 'o')).toContain('two\r\n');
    expect(
      dataOf(cast, 'o').endsWith('no line end\r\n\x1b[1m$\x1b[0m test -t 1 && echo terminal\r\nterminal\r\n'),
    ).toBe(true);
    expect(dataOf(cast, 'r')).toBe('100x30');
    expect(dataOf(cast, 'x')).toBe('complete');
    const times = cast.events.map(([seconds]) => seconds);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const file = join(daemon.directory, 'state', 'recordings', `${id}.cast`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('has typed input, and no password that the terminal did not show', async () => {
    const { session, id } = await openRecorded(client);
    const ask = 'read -rp "Name: " n; read -rsp "Password: " p; read -rp "Again: " a; echo; echo $n ${#p} $a';
    await converse(session, ask, ['Alice\n', 'hunter2-hidden\n', 'shown\n']);
    await converse(session, 'read -rs a; read -r b; echo $b', ['hunter3-hidden\n', 'Bob\n'], false);
    await converse(session, 'read -r x; echo done', [`my ${SECRET} here\n`]);
    await client.request('close_session', { session_id: session });
    const { text, cast } = await readRecording(client, id);
    expect(dataOf(cast, 'i')).toBe('Alice\n***\nshown\n***\nBob\nmy *** here\n');
    expect(dataOf(cast, 'o')).toContain('Alice 14 shown');
    expect(text).not.toMatch(/hunter|hidden"|sesame/u);
  });

  it('delivers in order what is typed at once, the end of the input included', async () => {
    const { session } = await openRecorded(client);
    for (let round = 0; round < 5; round += 1) {
      const command = `ordered-${round}`;
      const running = client.run('cat', session, { command_id: command });
      await client.event('awaiting_input', (event) => event.command_id === command);
      for (const input of [{ data: 'one\n' }, { data: 'two\n' }, { eof: true }])
        void client.request('send_input', { command_id: command, ...input });
      expect((await running).stdout).toBe('one\ntwo\n');
    }
    await client.request('close_session', { session_id: session });
  });

  it('has no password that was typed at once, before its prompt was seen', async () => {
    const { session, id } = await openRecorded(client);
    for (let round = 0; round < 5; round += 1) {
      const { command_id: command } = await client.run('read -rs p; echo ${#p}', session, {
        background: true,
        tty: true,
      });
      await client.request('send_input', { command_id: command, data: 'hunter2-hidden\n' });
      await client.request('wait_command', { command_id: command });
    }
    await client.request('close_session', { session_id: session });
    const { cast } = await readRecording(client, id);
    // What comes before the echo is off is echoed by the terminal, and then it is output as well.
    const echoes = dataOf(cast, 'o').split('hunter2-hidden').length - 1;
    expect(dataOf(cast, 'i').split('hunter2-hidden').length - 1).toBeLessThanOrEqual(echoes);
  });

  it('is made of every session of a role, and only admins delete it', async () => {
    const agent = await come('agent');
    const { session, id } = await openRecorded(agent, false);
    expect(id).toMatch(/^recording_[\w-]{22}$/u);
    const refused = await agent.request('delete_recording', { recording_id: id });
    expect(refused.error?.message).toContain('recording.roles');
    const early = await client.request('delete_recording', { recording_id: id });
    expect(early.error).toMatchObject({ code: 'INVALID_REQUEST', details: { session_id: session } });
    await agent.request('close_session', { session_id: session });
    expect((await client.request('delete_recording', { recording_id: id })).error).toBeUndefined();
    const gone = await agent.request('read_recording', { recording_id: id });
    expect(gone.error).toMatchObject({ code: 'RECORDING_NOT_FOUND', details: { recording_id: id } });
  });

  it('is off by default, and never of one-shots', async () => {
    const before = readdirSync(join(daemon.directory, 'state', 'recordings'));
    const { session, id } = await openRecorded(client, null);
    expect(id).toBe('');
    const agent = others[0] ?? (await come('agent'));
    await agent.run('echo one-shot', undefined, { tty: true });
    await client.request('close_session', { session_id: session });
    expect(readdirSync(join(daemon.directory, 'state', 'recordings'))).toEqual(before);
  });

  it('is not there for other agents; viewers see it, and delete nothing', async () => {
    const { session, id } = await openRecorded(client);
    await client.request('close_session', { session_id: session });
    const agent = others[0] ?? (await come('agent'));
    expect((await agent.request('list_recordings')).recordings).not.toContainEqual(
      expect.objectContaining({ recording_id: id }),
    );
    for (const name of ['read_recording', 'delete_recording'] as const) {
      const foreign = await agent.request(name, { recording_id: id });
      const missing = await agent.request(name, { recording_id: `recording_${'A'.repeat(22)}` });
      expect(JSON.stringify(foreign).replaceAll(id, 'ID')).toBe(
        JSON.stringify(missing).replaceAll(`recording_${'A'.repeat(22)}`, 'ID'),
      );
    }
    const [viewer, operator] = [await come('viewer'), await come('operator')];
    expect((await readRecording(viewer, id)).cast.header.width).toBe(80);
    expect((await viewer.request('delete_recording', { recording_id: id })).error?.code).toBe('FORBIDDEN');
    expect((await operator.request('delete_recording', { recording_id: id })).error?.code).toBe('FORBIDDEN');
  });

  it('cannot be read by commands', async () => {
    const directory = join(daemon.directory, 'state', 'recordings');
    const verdict = await client.request('check_command', { command: `cat ${directory}/recording_x.cast` });
    expect(verdict.action).not.toBe('allow');
  });
});

describe('a daemon that is killed', () => {
  it('leaves a recording that can be read', async () => {
    const killed = await TestDaemon.startCold();
    const [directory, first] = [killed.directory, await WireClient.connect(killed.url)];
    const { recording_id: id, session_id: session } = await first.request('open_session', { record: true });
    await first.run('echo before', session);
    const file = join(directory, 'state', 'recordings', `${id ?? ''}.cast`);
    // Reading it writes what waits.
    await readRecording(first, id ?? '');
    killed.signal('SIGKILL');
    await killed.exited;
    await first[Symbol.asyncDispose]();
    expect(readFileSync(file, 'utf8')).toContain('before');
    const next = await TestDaemon.startCold({}, directory);
    const second = await WireClient.connect(next.url);
    const { recordings } = await second.request('list_recordings');
    expect(recordings).toMatchObject([{ recording_id: id, state: 'interrupted' }]);
    expect(dataOf((await readRecording(second, id ?? '')).cast, 'o')).toContain('before\r\n');
    expect((await second.request('delete_recording', { recording_id: id ?? '' })).error).toBeUndefined();
    expect(existsSync(file)).toBe(false);
    await second[Symbol.asyncDispose]();
    await next[Symbol.asyncDispose]();
  });
});
