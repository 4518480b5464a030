import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest({});

/** Lets requests fail as a change of the network does: so many of them, or all. Returns the function that ends it. */
async function breakRequests(page: Page, pattern: string, count = Infinity): Promise<() => Promise<void>> {
  let left = count;
  await page.route(pattern, (route) => ((left -= 1) >= 0 ? route.abort('connectionaborted') : route.continue()));
  return () => page.unroute(pattern);
}

it('says that a part could not be loaded, and loads it with the page', async ({ openDashboard }) => {
  const { page, faults } = await openDashboard({ route: hrefOf('overview') });
  faults.expect(/ERR_CONNECTION_ABORTED/);
  const mend = await breakRequests(page, '**/assets/chart-canvas-*.js*');
  // From now on nothing comes out of the cache of the browser.
  await page.reload();
  await page.getByText('The chart is missing').first().waitFor();
  await mend();
  await page.getByRole('button', { name: 'Load it again' }).first().click();
  await page.locator('.chart canvas').first().waitFor();
});

it.for([
  { what: 'a part', file: 'chart-canvas-*.js*', route: hrefOf('overview'), shown: '.chart canvas' },
  { what: 'the style sheet of a part', file: 'chart-*.css', route: hrefOf('overview'), shown: '.chart canvas' },
  { what: 'a page', file: 'audit-*.js*', route: hrefOf('audit'), shown: 'h1:has-text("Audit")' },
])('loads $what again that could not be loaded at first', async ({ file, route, shown }, { openDashboard }) => {
  const { page, faults } = await openDashboard();
  faults.expect(/ERR_CONNECTION_ABORTED/);
  await breakRequests(page, `**/assets/${file}`, 2);
  await page.evaluate(`location.hash = ${JSON.stringify(hrefOf('doctor'))}`);
  await page.reload();
  await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
  await page.locator(shown).first().waitFor();
  // A sheet that could not be loaded is there as well, without rules.
  const rules = '[...document.styleSheets].map(({ cssRules }) => cssRules.length)';
  expect(await page.evaluate(rules)).not.toContain(0);
});

it('loads the dashboard again for a page that imports what could not be loaded', async ({ openDashboard }) => {
  const { page, faults } = await openDashboard({ route: hrefOf('doctor') });
  faults.expect(/ERR_CONNECTION_ABORTED/);
  await page.reload();
  await breakRequests(page, '**/assets/judged-commands-*.js*', 1);
  await page.evaluate(`location.hash = ${JSON.stringify(hrefOf('confirmations'))}`);
  await page.getByText('Nothing waits for a confirmation').waitFor();
});

it('offers to load a page again that could not be loaded, and comes back to it', async ({ openDashboard }) => {
  const { page, faults } = await openDashboard({ route: hrefOf('doctor') });
  faults.expect(/ERR_CONNECTION_ABORTED/);
  const mend = await breakRequests(page, '**/assets/audit-*.js*');
  await page.reload();
  await page.evaluate(`location.hash = ${JSON.stringify(hrefOf('audit'))}`);
  await page.getByText('This page could not be loaded').waitFor();
  await mend();
  await page.getByRole('button', { name: 'Load it again' }).click();
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
});

it('offers to load the terminal again that could not be loaded', async ({ openDashboard, client }) => {
  const session = await client.openSession();
  const { page, faults } = await openDashboard({ route: hrefOf('doctor') });
  faults.expect(/ERR_CONNECTION_ABORTED/);
  const mend = await breakRequests(page, '**/assets/terminal-screen-*.js*');
  await page.reload();
  await page.evaluate(`location.hash = ${JSON.stringify(hrefOf('sessions', [session]))}`);
  await page.getByText('The terminal is missing').waitFor();
  await mend();
  await page.getByRole('button', { name: 'Load it again' }).click();
  await page.locator('.xterm-rows').waitFor();
});

it('says so when nothing of it could be loaded', async ({ openDashboard }) => {
  const { page, faults } = await openDashboard({ route: hrefOf('doctor') });
  faults.expect(/ERR_CONNECTION_ABORTED/);
  const mend = await breakRequests(page, '**/assets/*');
  await page.reload();
  await page.getByText('load this page again').waitFor();
  await mend();
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
  expect(await page.getByText('load this page again').count()).toBe(0);
});
