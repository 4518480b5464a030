import type { CDPSession, Page } from 'playwright-core';
import { expect } from 'vitest';

import type { WireClient } from '../../support/wire.js';
import { findViolations } from '../harness/axe.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest();

/** Comes near a limit of 10 processes, and stays there. */
const NEAR = 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait';
/** Writes until it is ended. */
const WRITER = 'while head -c 1M /dev/zero; do sleep 0.01; done > endless';

/** Warnings come to those who observe. */
async function expectObserved(client: WireClient, id: string): Promise<void> {
  await expect.poll(async () => (await client.request('get_session', { session_id: id })).observers).toBe(1);
}

const showLimits = (page: Page) => page.getByRole('link', { name: 'Limits', exact: true }).click();

const charts = (page: Page) => page.locator('.resource .chart');

/** A line of the list of warnings. */
const listed = (page: Page, text: RegExp) => page.getByRole('listitem').filter({ hasText: text });

async function expectAccessible(page: Page, cdp: CDPSession): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findViolations(cdp)).toEqual([]);
  }
}

it('marks a warning that came while the timeline was shown, in the chart of its resource alone', async ({
  openDashboard,
  client,
}) => {
  const id = await client.openSession({ label: 'near', limits: { processes: 10 } });
  const { page, cdp } = await openDashboard({ route: `#/sessions/${id}?view=timeline` });
  await expectObserved(client, id);
  await client.request('execute_command', { session_id: id, command: NEAR, background: true });
  await client.event('resource_warning', ({ session_id: of }) => of === id);
  // What comes to the page later than the warning: once it is shown, the warning has come.
  await client.request('attach_session', { session_id: id, max_bytes_per_second: 65_536 });
  await page.getByText('watched by 2').waitFor();
  await showLimits(page);
  const name = /^Processes: now .*; warning at \d\d:\d\d:\d\d: Processes at \d+ % of its limit$/;
  const chart = page.getByRole('img', { name });
  await chart.waitFor();
  await charts(page).nth(3).waitFor();
  expect(await chart.locator('.chart-mark.warn').innerText()).toBe('!');
  expect(await charts(page).locator('.chart-mark').count()).toBe(1);
  const [mark, whole] = [await chart.locator('.chart-mark').boundingBox(), await chart.boundingBox()];
  expect(mark?.height).toBe(whole?.height);
  await listed(page, /Processes: \d+ of 10, near the limit/).waitFor();
  await expectAccessible(page, cdp);
  await client.request('close_session', { session_id: id });
});

it('marks a limit that was exceeded while the terminal was shown, and has it in the table', async ({
  openDashboard,
  client,
}) => {
  const id = await client.openSession({ label: 'exceeded', limits: { disk_mb: 8 } });
  const { page, cdp } = await openDashboard({ route: `#/sessions/${id}` });
  await expectObserved(client, id);
  expect(await client.run(WRITER, id)).toMatchObject({ status: 'killed', killed_by: 'disk' });
  await page.locator('.xterm-rows').filter({ hasText: 'killed by disk' }).waitFor();
  await showLimits(page);
  const name = /^Written to disks: now .*; exceeded at \d\d:\d\d:\d\d: Disk writes at \d+ % of its limit/;
  const chart = page.getByRole('img', { name });
  await chart.waitFor();
  expect(await chart.locator('.chart-mark.bad').innerText()).toBe('×');
  expect(await charts(page).locator('.chart-mark.bad').count()).toBe(1);
  const text = /Disk writes: \d+ of 8 MB, exceeded, so that it was ended/;
  await listed(page, text).waitFor();
  await expectAccessible(page, cdp);
  await page.getByRole('button', { name: 'As table' }).click();
  const warned = page.getByRole('region', { name: 'Usage of the session' }).getByRole('row').filter({ hasText: text });
  await warned.waitFor();
  expect(await warned.count()).toBe(1);
  await expectAccessible(page, cdp);
  await client.run('rm endless', id);
  await client.request('close_session', { session_id: id });
});
