import { expect } from 'vitest';

import { TestDaemon } from '../support/daemon.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest();

it('says that the connection is lost, comes back, and says what is gone', async ({ openDashboard, daemon, client }) => {
  const id = await client.openSession({ label: 'gone-soon' });
  const { page, faults } = await openDashboard({ route: `#/sessions/${id}` });
  // What Chromium prints while nothing listens.
  faults.expect(/WebSocket connection to .* failed|ERR_CONNECTION_REFUSED/);
  await page.getByRole('heading', { name: 'gone-soon' }).waitFor();
  await page.locator('.xterm-rows').waitFor();
  daemon.signal('SIGKILL');
  await page.getByRole('alert').filter({ hasText: 'Connection lost' }).waitFor();
  await daemon.exited;
  const port = Number(new URL(daemon.url).port);
  const next = await TestDaemon.start({ settings: { socketio: { port } } }, daemon.directory);
  try {
    await page.getByRole('status').filter({ hasText: 'The daemon was restarted' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'This session has ended' }).waitFor();
    expect(await page.getByRole('banner').textContent()).toContain('Connected');
  } finally {
    await next.stop();
  }
});
