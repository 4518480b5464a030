import { expect } from 'vitest';

import { findViolations } from '../harness/axe.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest();

it('marks a warning in the chart of its resource alone, and says what it was about', async ({
  openDashboard,
  client,
}) => {
  const id = await client.openSession({ label: 'near', limits: { processes: 10 } });
  const { page, cdp } = await openDashboard({ route: `#/sessions/${id}?view=limits` });
  const charts = page.locator('.resource .chart');
  await charts.nth(3).waitFor();
  expect(await page.locator('.chart-mark').count()).toBe(0);
  // Warnings come to those who observe.
  const observers = async () => (await client.request('get_session', { session_id: id })).observers;
  await expect.poll(observers).toBe(1);
  const command = 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait';
  await client.request('execute_command', { session_id: id, command, background: true });
  const name = /^Processes: now .*; warning at \d\d:\d\d:\d\d: Processes at \d+ % of its limit$/;
  const chart = page.getByRole('img', { name });
  await chart.waitFor();
  expect(await chart.locator('.chart-mark.warn').innerText()).toBe('!');
  expect(await charts.locator('.chart-mark').count()).toBe(1);
  const [mark, whole] = [await chart.locator('.chart-mark').boundingBox(), await chart.boundingBox()];
  expect(mark?.height).toBe(whole?.height);
  await page
    .getByRole('listitem')
    .filter({ hasText: /Processes: \d+ of 10, near the limit/ })
    .waitFor();
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findViolations(cdp)).toEqual([]);
  }
  await client.request('close_session', { session_id: id });
});
