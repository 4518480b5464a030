import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually, MIB } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';

const PRELOAD = fileURLToPath(new URL('../../fixtures/hasty-intervals.mjs', import.meta.url));
/** Between two bytes of a slow upload, and how many there are: together longer than what counts as stalled. */
const PAUSE_MS = 100;
const PIECES = 15;

const urlOf = ({ url }: TestDaemon, path: string) => `${url}/v1/files/${path}`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const put = (daemon: TestDaemon, path: string, body: string, token: string) =>
  fetch(urlOf(daemon, path), { method: 'PUT', body, headers: bearer(token) });

it('a token has its number of requests, uploads and downloads among them', async () => {
  await using daemon = await TestDaemon.startCold({ settings: { auth: { requests_per_second: 1 } } });
  const token = daemon.createToken('agent', 'busy');
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0
        ? put(daemon, `file-${index}`, 'x', token)
        : fetch(urlOf(daemon, 'none'), { headers: bearer(token) }),
    ),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused[0]?.json()).toMatchObject({
    error: { code: 'RATE_LIMITED', details: { retry_after_ms: expect.any(Number) as number } },
  });
  // What was refused was not written.
  const written = answers.filter(({ status }) => status === 201);
  expect(readdirSync(daemon.workspace)).toHaveLength(written.length);
  const calm = daemon.createToken('agent', 'calm');
  expect((await put(daemon, 'calm', 'x', calm)).status).toBe(201);
});

describe('what an operator has to confirm', () => {
  it('waits for the decision, and is answered with what was done', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { confirmation: { mode: 'operator' } } });
    const agent = daemon.createToken('agent', 'ann');
    await using operator = await WireClient.connect(daemon.url, ['websocket'], {
      token: daemon.createToken('operator', 'olga'),
    });
    const decided = new Set<string>();
    const decide = async (decision: 'approve' | 'reject') => {
      const event = await operator.event('confirmation_required', (each) => !decided.has(each.confirmation_id));
      const { confirmation_id } = event;
      decided.add(confirmation_id);
      await operator.request('confirm_command', { confirmation_id, decision, justification: 'seen' });
      return event;
    };
    const writing = put(daemon, '.npmrc', 'content', agent);
    expect(await decide('approve')).toMatchObject({ kind: 'file', command: 'write_file', stdin: 'content' });
    const written = await writing;
    expect([written.status, await written.json()]).toMatchObject([201, { size: 7, created: true }]);
    expect(readFileSync(join(daemon.workspace, '.npmrc'), 'utf8')).toBe('content');

    const refused = put(daemon, '.npmrc', 'other', agent);
    await decide('reject');
    expect((await refused).status).toBe(403);
    expect(readFileSync(join(daemon.workspace, '.npmrc'), 'utf8')).toBe('content');

    writeFileSync(join(daemon.workspace, '.env'), 'KEY=1\n');
    const reading = fetch(urlOf(daemon, '.env'), { headers: { ...bearer(agent), range: 'bytes=0-2' } });
    expect(await decide('approve')).toMatchObject({ kind: 'file', command: 'read_file' });
    const read = await reading;
    expect([read.status, await read.text()]).toEqual([206, 'KEY']);

    // A client that has gone asks no longer.
    const gone = new AbortController();
    const leaving = fetch(urlOf(daemon, '.env'), { headers: bearer(agent), signal: gone.signal });
    await operator.event('confirmation_required', (each) => !decided.has(each.confirmation_id));
    gone.abort();
    await expect(leaving).rejects.toThrow('aborted');
    await eventually(async () => {
      expect(await operator.request('list_confirmations', {})).toMatchObject({ confirmations: [] });
    });
  });
});

it('an upload that replaces what is there is saved before, and can be undone', async () => {
  await using daemon = await TestDaemon.startCold({
    settings: { confirmation: { mode: 'self', classes: { write: 'checkpoint' } } },
  });
  await using client = await WireClient.connect(daemon.url);
  const file = join(daemon.workspace, 'kept');
  writeFileSync(file, 'old');
  const written = await fetch(urlOf(daemon, 'kept'), { method: 'PUT', body: 'new' });
  const answer = (await written.json()) as { readonly checkpoint_id?: string };
  expect([written.status, answer]).toMatchObject([200, { size: 3, checkpoint_id: expect.any(String) as string }]);
  expect(readFileSync(file, 'utf8')).toBe('new');
  await client.request('restore_workspace', { checkpoint_id: answer.checkpoint_id ?? '', paths: ['kept'] });
  expect(readFileSync(file, 'utf8')).toBe('old');
});

describe('a client that stalls', () => {
  it('in a download or an upload loses its connection, and one that is slow does not', async () => {
    await using daemon = await TestDaemon.startCold({ env: { NODE_OPTIONS: `--import=${PRELOAD}` } });
    const { hostname, port } = new URL(daemon.url);
    const at = (name: string) => join(daemon.workspace, name);
    writeFileSync(at('large'), Buffer.alloc(16 * MIB));

    // It goes on sending, as slowly as that.
    const slow = request(urlOf(daemon, 'slow'), {
      method: 'PUT',
      headers: { 'content-length': PIECES },
      agent: false,
    });
    const status = new Promise((resolve, reject) => {
      slow.on('error', reject).on('response', (response) => {
        resolve(response.resume().statusCode);
      });
    });
    const sending = (async () => {
      for (let piece = 0; piece < PIECES; piece += 1) {
        slow.write('x');
        await sleep(PAUSE_MS);
      }
      slow.end();
    })();

    const unread = connectTcp(Number(port), hostname);
    unread.on('error', () => undefined).pause();
    unread.write('GET /v1/files/large HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    await eventually(() => {
      expect(holds(daemon, at('large'))).toBe(true);
    });
    await eventually(() => {
      expect(holds(daemon, at('large'))).toBe(false);
    });
    unread.destroy();

    const unsent = connectTcp(Number(port), hostname);
    const closed = new Promise((resolve) => unsent.on('error', () => undefined).once('close', resolve));
    unsent.resume();
    unsent.write('PUT /v1/files/unsent HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\nbegin');
    await closed;
    await sending;
    expect(await status).toBe(201);
    await eventually(() => {
      expect(readdirSync(daemon.workspace).sort()).toEqual(['large', 'slow']);
    });
  });
});

/** Whether the daemon has a file open. */
function holds({ pid }: TestDaemon, path: string): boolean {
  const { ino } = statSync(path);
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return statSync(`/proc/${pid}/fd/${fd}`).ino === ino;
    } catch {
      return false;
    }
  });
}
