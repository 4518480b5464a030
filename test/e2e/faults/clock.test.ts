import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { HANG_MS } from '../../support/hang.js';
import { eventually, timed } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';

const PRELOAD = fileURLToPath(new URL('../../fixtures/jumping-clock.mjs', import.meta.url));

/** A daemon whose calendar jumps, a day ahead and two days back in turn, at each SIGUSR2. */
const startJumping = (adapter: Record<string, unknown> = {}) =>
  TestDaemon.start({ settings: { adapter }, env: { NODE_OPTIONS: `--import=${PRELOAD}` } });

const DAY_MS = 24 * 60 * 60 * 1000;

/** Makes the calendar jump; resolves when it has, as a session opened then tells. */
async function jump(daemon: TestDaemon, client: WireClient): Promise<void> {
  daemon.signal('SIGUSR2');
  await eventually(async () => {
    const id = await client.openSession();
    const { created_at: now } = await client.request('get_session', { session_id: id });
    await client.request('close_session', { session_id: id });
    expect(Math.abs(Date.parse(now) - Date.now())).toBeGreaterThan(DAY_MS / 2);
  });
}

describe('F26: the calendar jumps by a day, ahead and back', () => {
  it('F26: a time-out comes when it should, and durations are true', async () => {
    await using daemon = await startJumping();
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    for (let time = 0; time < 2; time += 1) {
      const { ms, value } = await timed(async () => {
        const running = client.run('sleep 300', id, { timeout_ms: 1000 });
        await jump(daemon, client);
        return running;
      });
      expect(value).toMatchObject({ status: 'timed_out', exit_code: 124 });
      expect(ms).toBeGreaterThanOrEqual(990);
      expect(ms).toBeLessThan(HANG_MS);
      expect(value.duration_ms).toBeGreaterThanOrEqual(990);
      expect(value.duration_ms).toBeLessThan(HANG_MS);
    }
  });

  it('F26: sessions end neither early nor late', async () => {
    await using daemon = await startJumping({ session_idle_timeout: 0.15, session_max_lifetime: 60 });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    await client.run('KEPT=1', id);
    const start = performance.now();
    await jump(daemon, client);
    await client.run('true', id);
    await jump(daemon, client);
    expect(await client.run('echo $KEPT', id)).toMatchObject({ stdout: '1\n', session_state: 'alive' });
    const last = performance.now();
    expect(last - start).toBeLessThan(9000);
    const { reason } = await client.event('session_closed', ({ session_id }) => session_id === id);
    expect(reason).toBe('idle');
    expect(performance.now() - last).toBeGreaterThan(2900);
  });

  it('F26: a connection is not dropped by it', async () => {
    await using daemon = await TestDaemon.startCold({
      settings: { socketio: { ping_interval: 0.3, ping_timeout: 1 } },
      env: { NODE_OPTIONS: `--import=${PRELOAD}` },
    });
    await using client = await WireClient.connect(daemon.url);
    await jump(daemon, client);
    await jump(daemon, client);
    await client.run('sleep 1');
    expect(client.socket.connected).toBe(true);
  });
});
