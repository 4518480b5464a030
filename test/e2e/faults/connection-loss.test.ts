import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { HANG_MS } from '../../support/hang.js';
import { ClientProcess } from '../../support/network/client-process.js';
import { TestDaemon } from '../../support/daemon.js';
import { eventually, MIB, observe, percentile } from '../../support/measure.js';
import { instanceOf, residentBytes, taggedProcesses } from '../../support/processes.js';
import { rounds } from '../../support/rounds.js';
import { StreamCheck } from '../../support/stream-check.js';
import { WireClient } from '../../support/wire.js';

/** Most that the daemon may grow by, in bytes, and longest wait of an echo meanwhile, in milliseconds. */
const MAX_GROWTH = 64 * MIB;
const MAX_ECHO_MS = HANG_MS;
/** Of the samples: a machine that is busy with something else delays some, which says nothing of the daemon. */
const SHARE = 0.9;

/** Counts from 1, a thousand lines at a time, until a file appears; then prints the last number it reached. */
const countUntil = (stopFile: string) =>
  `i=0; while [ ! -e '${stopFile}' ]; do seq $((i * 1000 + 1)) $((i * 1000 + 1000)); i=$((i + 1)); sleep 0.004; done`;

/** What that prints: `bytes` long. */
function countedText(bytes: number): string {
  let text = '';
  for (let number = 1; text.length < bytes; number += 1) text += `${number}\n`;
  return text;
}

describe('F5: a client that is killed in the middle of a command', () => {
  const LINES = 'for i in $(seq 200); do echo line $i; sleep 0.005; done';
  const EXPECTED = Array.from({ length: 200 }, (_, index) => `line ${index + 1}\n`).join('');

  it('F5: the command goes on, and another connection gets all output, numbered without a gap', async () => {
    await using daemon = await TestDaemon.startCold();
    await using killed = await ClientProcess.start(daemon.url, LINES);
    await killed.kill();
    await using client = await WireClient.connect(daemon.url);
    const attached = await client.request('attach_session', { session_id: killed.sessionId, from_seq: 0 });
    expect(attached).toMatchObject({ gap: null });
    const result = await client.request('wait_command', { command_id: killed.commandId });
    expect(result).toMatchObject({ exit_code: 0, stdout: EXPECTED, status: 'completed', session_state: 'alive' });
    await client.event('command_finished');
    const check = new StreamCheck();
    check.take(client.events);
    expect(check.problems).toEqual([]);
    expect(check.text()).toBe(EXPECTED);
  });

  it('who attaches follows the commands that wait, too', async () => {
    await using daemon = await TestDaemon.startCold();
    await using owner = await WireClient.connect(daemon.url);
    await using other = await WireClient.connect(daemon.url);
    const id = await owner.openSession();
    const first = owner.run('read -r line', id);
    await owner.event('awaiting_input');
    const second = owner.run('echo waited', id);
    await eventually(async () => {
      expect((await other.request('get_session', { session_id: id })).queued_commands).toBe(1);
    });
    await other.request('attach_session', { session_id: id });
    await owner.request('send_input', { session_id: id, data: 'go\n' });
    await Promise.all([first, second]);
    expect(await other.event('command_output')).toMatchObject({ stream: 'stdout', data: 'waited\n' });
  });

  it('F5: nobody comes back within reconnect_grace: the session and all its processes end', async () => {
    await using daemon = await TestDaemon.startCold({
      settings: { adapter: { reconnect_grace: 0.5, kill_grace: 0.3 } },
    });
    await using killed = await ClientProcess.start(daemon.url, 'setsid sleep 301 & echo started; sleep 302');
    await using client = await WireClient.connect(daemon.url);
    const instance = instanceOf(daemon.pid);
    const sleeps = () => taggedProcesses(instance).filter(({ command }) => command.startsWith('sleep'));
    expect(sleeps()).toHaveLength(2);
    await killed.kill();
    await eventually(async () => {
      const { error } = await client.request('get_session', { session_id: killed.sessionId });
      expect(error).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { reason: 'disconnected' } });
    });
    await eventually(() => {
      expect(sleeps()).toEqual([]);
    });
  });

  it('F5: one that comes back in time keeps it', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { adapter: { reconnect_grace: 0.6 } } });
    const first = await WireClient.connect(daemon.url);
    const id = await first.openSession();
    await first[Symbol.asyncDispose]();
    await using second = await WireClient.connect(daemon.url);
    expect((await second.request('attach_session', { session_id: id })).error).toBeUndefined();
    await second.run('sleep 1', id);
    expect(await second.run('echo kept', id)).toMatchObject({ stdout: 'kept\n', session_state: 'alive' });
  });
});

describe('F6: reconnects during a flood', () => {
  it('F6: at random times: every byte exactly once, or in an announced gap', async () => {
    // So little is kept for replay that there are gaps, too.
    await using daemon = await TestDaemon.startCold({ settings: { adapter: { replay_kb: 64 } } });
    await using owner = await WireClient.connect(daemon.url);
    const id = await owner.openSession();
    const stop = join(daemon.directory, 'stop');
    await owner.run(countUntil(stop), id, { background: true, stream: true });
    const check = new StreamCheck();
    for (let time = 0; time < rounds(100, 25); time += 1) {
      const client = await WireClient.connect(daemon.url);
      const answer = await client.request('attach_session', { session_id: id, from_seq: check.nextSeq });
      check.takeGap(answer.gap);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
      await client[Symbol.asyncDispose]();
      check.take(client.events);
    }
    await using last = await WireClient.connect(daemon.url);
    check.takeGap((await last.request('attach_session', { session_id: id, from_seq: check.nextSeq })).gap);
    writeFileSync(stop, '');
    const { stdout_bytes: bytes, status } = await last.event('command_finished');
    check.take(last.events);
    expect(status).toBe('completed');
    expect(check.problems).toEqual([]);
    expect(check.differencesFrom(countedText(bytes))).toEqual([]);
    expect(check.missingBytes(bytes) > 0).toBe(check.gaps > 0);
    expect(check.nextSeq).toBe((await last.request('get_session', { session_id: id })).next_seq);
  });
});

describe('F7: a half-open connection', () => {
  it('F7: a stopped client is dropped after ping_interval + ping_timeout, in bounded memory', async () => {
    const settings = { socketio: { ping_interval: 0.5, ping_timeout: 1 } };
    await using daemon = await TestDaemon.startCold({ settings });
    await using client = await WireClient.connect(daemon.url);
    await using stopped = await ClientProcess.start(daemon.url, 'yes');
    const before = residentBytes(daemon.pid);
    stopped.signal('SIGSTOP');
    await eventually(async () => {
      const session = await client.request('get_session', { session_id: stopped.sessionId });
      expect(session.attached_clients).toBe(0);
    });
    expect(residentBytes(daemon.pid) - before).toBeLessThan(MAX_GROWTH);
    expect(await client.run('echo fine')).toMatchObject({ stdout: 'fine\n' });
  });
});

describe('F18: a client that does not read', () => {
  const BYTES = 300_000_000;
  /** Far less than what the command prints; most of it is garbage that the daemon has had no reason yet to collect. */
  const MAX_GROWTH_OF_FLOOD = 192 * MIB;

  it.each(['session', 'alone'] as const)(
    'F18: its command (%s) waits, then goes on without it; memory is bounded, others are served, the gap is announced',
    async (place) => {
      await using daemon = await TestDaemon.startCold({ settings: { socketio: { ping_timeout: 60 } } });
      await using client = await WireClient.connect(daemon.url);
      await using slow = await ClientProcess.start(daemon.url, `yes 0123456789 | head -c ${BYTES}`, place);
      slow.signal('SIGSTOP');
      const other = await client.openSession();
      let result: unknown;
      const { echoMs, growth } = await observe(client, other, daemon.pid, async () => {
        result = await client.request('wait_command', { command_id: slow.commandId });
      });
      expect(result).toMatchObject({ exit_code: 0, stdout_bytes: BYTES });
      expect(growth).toBeLessThan(MAX_GROWTH_OF_FLOOD);
      expect(percentile(echoMs, SHARE)).toBeLessThan(MAX_ECHO_MS);
      slow.signal('SIGCONT');
      await eventually(() => {
        expect(slow.all('command_finished')).toHaveLength(1);
      });
      // Before its end is told, so that a client knows that it has not got all.
      const finished = slow.notes.findIndex((note) => note.note === 'event' && note.name === 'command_finished');
      const check = new StreamCheck();
      check.take(slow.notes.slice(0, finished).flatMap((note) => (note.note === 'event' ? [note] : [])));
      expect(check.problems).toEqual([]);
      expect(check.gaps).toBe(1);
    },
  );
});
