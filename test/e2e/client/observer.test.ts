import { expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';

/** Of output: more than the buffers of a connection hold. */
const BYTES = 50_000_000;
const RATE = 1_000_000;

/** The WebSocket of a client, which can stop reading. */
interface ReadableSocket {
  pause(): void;
  resume(): void;
}

const webSocketOf = ({ socket }: WireClient): ReadableSocket =>
  (socket.io.engine.transport as unknown as { readonly ws: ReadableSocket }).ws;

it('an observer that does not read holds no command, and sees the end of its output later', async () => {
  await using daemon = await TestDaemon.startCold();
  await using client = await WireClient.connect(daemon.url);
  await using observer = await WireClient.connect(daemon.url);
  const id = await client.openSession();
  const attached = await observer.request('attach_session', { session_id: id, max_bytes_per_second: RATE });
  expect(attached).toMatchObject({ next_seq: 0, replayed: 0, gap: null });
  webSocketOf(observer).pause();
  const answer = await client.run(`yes 0123456789 | head -c ${BYTES}`, id);
  expect(answer).toMatchObject({ exit_code: 0, stdout_bytes: BYTES });
  webSocketOf(observer).resume();
  await observer.until(() => observer.all('command_output').find(({ offset, data }) => offset + data.length === BYTES));
  // What arrives last is the end without gaps, in one event or several.
  let begin = BYTES;
  for (const { offset, data } of observer.all('command_output').toReversed()) {
    if (offset + data.length === begin) begin = offset;
  }
  expect(BYTES - begin).toBeGreaterThan(1000);
  expect(observer.all('output_gap').length).toBeGreaterThan(0);
  const finished = await observer.until(() => observer.all('command_finished')[0]);
  expect(finished.exit_code).toBe(0);
  // The client that asked gets the answer alone.
  expect(client.events.filter(({ name }) => name !== 'daemon_info')).toEqual([]);
});

it('an observer does not keep a session open, and becomes a follower when it attaches again', async () => {
  await using daemon = await TestDaemon.startCold({ settings: { adapter: { reconnect_grace: 0.5 } } });
  await using client = await WireClient.connect(daemon.url);
  await using observer = await WireClient.connect(daemon.url);
  const [left, kept] = [await client.openSession(), await client.openSession()];
  for (const id of [left, kept]) {
    await observer.request('attach_session', { session_id: id, max_bytes_per_second: RATE });
  }
  await observer.request('attach_session', { session_id: kept });
  client.socket.disconnect();
  const { session_id, reason } = await observer.until(() => observer.all('session_closed')[0]);
  expect([session_id, reason]).toEqual([left, 'disconnected']);
  expect((await observer.run('echo still here', kept)).stdout).toBe('still here\n');
});

it('a rate below that of one event a second is refused', async () => {
  await using daemon = await TestDaemon.startCold();
  await using client = await WireClient.connect(daemon.url);
  const request = { session_id: await client.openSession(), max_bytes_per_second: 100 };
  expect((await client.request('attach_session', request)).error).toMatchObject({ code: 'INVALID_REQUEST' });
});
