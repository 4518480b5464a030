import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect } from 'vitest';

import { MAIN } from '../support/daemon.js';
import { dashboardTest } from './harness/dashboard-test.js';

const SESSIONS = 300;

const it = dashboardTest({
  settings: { adapter: { max_sessions: SESSIONS + 10 }, auth: { max_sessions_per_token: SESSIONS + 10 } },
});

/** How soon a change shows: one tick, and room for a busy machine. */
const SOON_MS = 10_000;

it('shows a session that the command line opens, and its end', async ({ openDashboard, daemon, client }) => {
  const { page } = await openDashboard({ role: 'viewer' });
  await page.getByText('No sessions', { exact: true }).waitFor();
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[MAIN, 'open', '--url', daemon.url, '--label', 'from-cli'],
  ]);
  const row = page.getByRole('row').filter({ hasText: 'from-cli' });
  await row.waitFor({ timeout: SOON_MS });
  const sessionId = /session_[\w-]+/.exec(stdout)?.[0] ?? '';
  await client.request('execute_command', { session_id: sessionId, command: 'sleep 60', background: true });
  await row.filter({ hasText: 'busy' }).filter({ hasText: 'sleep 60' }).waitFor({ timeout: SOON_MS });
  await page.getByRole('table').getByText('sleep 60').nth(1).waitFor({ timeout: SOON_MS });
  await client.request('close_session', { session_id: sessionId });
  await row.waitFor({ state: 'detached', timeout: SOON_MS });
});

it('keeps filters and sorting in the address', async ({ openDashboard, client }) => {
  const [idle, busy] = [
    await client.openSession({ label: 'one-idle' }),
    await client.openSession({ label: 'two-busy' }),
  ];
  await client.request('execute_command', { session_id: busy, command: 'sleep 60', background: true });
  const { page } = await openDashboard({ route: '#/overview' });
  const row = (text: string) =>
    page.getByRole('region', { name: 'Sessions', exact: true }).getByRole('row').filter({ hasText: text });
  await row('one-idle').waitFor();
  await page.getByRole('button', { name: /^Busy/ }).click();
  await row('one-idle').waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Sessions', exact: true }).getByRole('button', { name: 'Owner' }).click();
  expect(page.url()).toContain('show=busy&sort=owner');
  await page.reload();
  await row('two-busy').waitFor();
  expect(await row('one-idle').count()).toBe(0);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'two-busy' }).waitFor();
  await page.keyboard.press('Escape');
  await row('two-busy').waitFor();
  for (const id of [idle, busy]) await client.request('close_session', { session_id: id });
});

it('keeps the focus on a row while others come, change and go', async ({ openDashboard, client }) => {
  const focused = await client.openSession({ label: 'mmm-focused' });
  const { page } = await openDashboard();
  const panel = page.getByRole('region', { name: 'Sessions', exact: true });
  const row = (text: string) => panel.getByRole('row').filter({ hasText: text });
  const focus = () => page.evaluate<string>('document.activeElement.textContent');
  await row('mmm-focused').getByRole('link').focus();
  const before = await client.openSession({ label: 'aaa-before' });
  await row('aaa-before').waitFor();
  await client.run('echo changed-the-row', focused);
  await row('mmm-focused').filter({ hasText: 'echo changed-the-row' }).waitFor();
  expect(await focus()).toBe('mmm-focused');
  await client.request('close_session', { session_id: before });
  await row('aaa-before').waitFor({ state: 'detached' });
  expect(await focus()).toBe('mmm-focused');
  await client.request('close_session', { session_id: focused });
});

it('has charts that show the chosen time, and a table of their values', async ({ openDashboard }) => {
  const { page } = await openDashboard();
  await page.locator('.chart canvas').nth(5).waitFor();
  const name = await page.locator('.chart').first().getAttribute('aria-label');
  expect(name).toMatch(/^CPU: now .* of \d+ CPUs?$/);
  // All charts show the same time, whichever is pointed at.
  const details = page.locator('.card .detail');
  await page.locator('.chart').first().hover();
  for (const index of [0, 5]) await expect.poll(() => details.nth(index).innerText()).toMatch(/^at \d\d:\d\d:\d\d$/);
  await page.getByRole('button', { name: '1 h' }).hover();
  await expect.poll(() => details.first().innerText()).toMatch(/^of \d+ CPUs?$/);
  await page.getByRole('button', { name: '1 h' }).click();
  await page.getByRole('button', { name: 'As table' }).click();
  await page.getByRole('region', { name: 'Values of the machine' }).getByRole('row').nth(1).waitFor();
});

it('shows its keys, and takes none from fields', async ({ openDashboard }) => {
  const { page } = await openDashboard();
  await page.getByRole('searchbox').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('?g');
  expect(await page.getByRole('searchbox').inputValue()).toBe('?g');
  await page.getByRole('heading', { name: /Sessions/ }).click();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('shows 300 sessions in few rows of the page, and finds each', async ({ openDashboard, client }) => {
  const { page } = await openDashboard({ role: 'viewer' });
  const ids: string[] = [];
  for (let number = 1; number <= SESSIONS; number++) {
    ids.push(await client.openSession({ label: `crowd-${String(number).padStart(3, '0')}` }));
  }
  const panel = page.getByRole('region', { name: 'Sessions', exact: true });
  await page.getByRole('heading', { name: `Sessions (${SESSIONS})` }).waitFor({ timeout: SOON_MS });
  expect(await panel.getByRole('row').count()).toBeLessThan(100);
  await page.getByRole('searchbox').fill('crowd-287');
  await panel.getByRole('row').filter({ hasText: 'crowd-287' }).waitFor({ timeout: SOON_MS });
  await Promise.all(ids.map((id) => client.request('close_session', { session_id: id })));
  await page.getByText('No sessions', { exact: true }).waitFor({ timeout: SOON_MS });
});
