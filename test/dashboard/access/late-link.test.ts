import { fileURLToPath } from 'node:url';

import { expect } from 'vitest';

import { dashboardTest } from '../harness/dashboard-test.js';

const PRELOAD = fileURLToPath(new URL('../../fixtures/jumping-clock.mjs', import.meta.url));
const HOUR_MS = 3_600_000;

/** At SIGUSR2 the clock of the daemon jumps a day ahead, at the next one two days back. */
const it = dashboardTest({ env: { NODE_OPTIONS: `--import=${PRELOAD}` } });

it('refuses a link after its minute, for good, and says how to get another', async ({
  openDashboard,
  daemon,
  client,
}) => {
  const { page, faults } = await openDashboard({ signIn: 'none' });
  faults.expect(/status of 401/);
  const { path } = await client.request('create_dashboard_link', { role: 'viewer' });
  daemon.signal('SIGUSR2');
  const later = async () => Date.parse((await client.request('describe_access', {})).server_time) - Date.now();
  await expect.poll(later).toBeGreaterThan(HOUR_MS);

  await page.goto('about:blank');
  await page.goto(daemon.url + path);
  const refusal = page.getByRole('alert').filter({ hasText: 'the link does not count' });
  await refusal.waitFor();
  expect(await refusal.innerText()).toContain('shell-adapter dashboard');
  expect(page.url()).not.toContain('code');
  expect(await page.evaluate('sessionStorage.length')).toBe(0);

  daemon.signal('SIGUSR2');
  await expect.poll(later).toBeLessThan(0);
  await page.goto('about:blank');
  await page.goto(daemon.url + path);
  await refusal.waitFor();
  await page.getByLabel('Token').fill(daemon.createToken('viewer', 'after-the-link', 30 * 24 * HOUR_MS));
  await page.getByLabel('Token').press('Enter');
  await page.getByRole('navigation').first().waitFor();
});
