import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

const CONFIRMED = { confirmation: { mode: 'operator', checkpoint: false } };
const it = dashboardTest();

/** What Chromium prints while nothing listens. */
const UNREACHABLE = /WebSocket connection to .* failed|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET/;

/** Fields whose text is sent by a button, or at once. */
const FIELDS = [
  [hrefOf('policy'), 'Policy', /^Command/],
  [hrefOf('checkpoints'), 'Checkpoints', 'Label'],
  [hrefOf('tokens'), 'Tokens', 'Name'],
  [hrefOf('audit'), 'Audit', 'Text'],
] as const;

/** Keeps what is said to screen readers, and when. */
const KEEP_NOTICES = `{
  globalThis.notices = [];
  const region = document.querySelector('[aria-live=polite]:not(.two-step)');
  const keep = () => { if (region.textContent !== '') notices.push([region.textContent, performance.now()]); };
  new MutationObserver(keep).observe(region, { childList: true, characterData: true, subtree: true });
}`;

const go = (page: Page, route: string) => page.evaluate(`location.hash = ${JSON.stringify(route)}`);

it('loses nothing that was typed with the connection, comes back, and says what is gone', async ({ openDashboard }) => {
  // It is killed: an attempt after this one needs another.
  await using daemon = await TestDaemon.start({ settings: CONFIRMED });
  await using client = await WireClient.connect(daemon.url);
  const id = await client.openSession({ label: 'gone-soon' });
  const main = await openDashboard({ daemon, route: `#/sessions/${id}` });
  const operator = await openDashboard({ daemon, role: 'operator', route: hrefOf('confirmations') });
  const stranger = await openDashboard({ daemon, signIn: 'none' });
  const token = daemon.createToken('viewer', 'patient');
  for (const { faults } of [main, operator, stranger]) faults.expect(UNREACHABLE);
  const { page } = main;
  await page.locator('.xterm-rows').waitFor();
  await page.evaluate(KEEP_NOTICES);
  const command = page.getByRole('textbox', { name: 'Command' });
  await command.fill('make everything');
  for (const [route, title, label] of FIELDS) {
    await go(page, route);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.getByLabel(label, { exact: true }).first().fill('typed before');
  }
  const filtered = await page.evaluate<string>('location.hash');
  await go(page, `#/sessions/${id}`);
  await using agent = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('agent', crypto.randomUUID()),
  });
  agent.run('rm -rf build').catch(() => undefined);
  const reason = operator.page.getByRole('article').getByRole('textbox');
  await reason.fill('half a reason');

  daemon.signal('SIGKILL');
  for (const opened of [main, operator]) {
    await opened.page.getByRole('alert').filter({ hasText: 'Connection lost' }).waitFor();
  }
  // What was shown stays, and is greyed.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).filter`)).toBe('grayscale(1)');
  await daemon.exited;
  // It goes on to be typed, and is not sent into another state of the session.
  await command.press('End');
  await command.pressSequentially(' again');
  await command.press('Enter');
  expect(await command.inputValue()).toBe('make everything again');
  expect(await page.getByRole('button', { name: /^Run/ }).getAttribute('aria-disabled')).toBe('true');
  const field = stranger.page.getByLabel('Token');
  await field.fill('mistyped');
  await field.press('Enter');
  await stranger.page.getByRole('status').filter({ hasText: 'no daemon answers' }).waitFor();
  await field.fill(token);
  await field.press('Enter');
  expect(await field.inputValue()).toBe(token);

  const port = Number(new URL(daemon.url).port);
  const next = await TestDaemon.start({ settings: { ...CONFIRMED, socketio: { port } } }, daemon.directory);
  try {
    await page.getByRole('status').filter({ hasText: 'The daemon was restarted' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'This session has ended' }).waitFor();
    expect(await page.getByRole('banner').textContent()).toContain('Connected');
    expect(await command.inputValue()).toBe('make everything again');
    await stranger.page.getByRole('banner').filter({ hasText: 'viewer' }).waitFor();
    await operator.page.getByRole('article').getByText('no longer open').waitFor();
    expect(await reason.inputValue()).toBe('half a reason');
    for (const [route, title, label] of FIELDS) {
      await go(page, route === hrefOf('audit') ? filtered : route);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await expect
        .poll(() => page.getByLabel(label, { exact: true }).first().inputValue(), { timeout: 10_000, message: route })
        .toBe('typed before');
    }
    await expect
      .poll(() => page.locator('[aria-live=polite]').last().innerText(), { timeout: 10_000 })
      .toContain('The daemon was restarted');
    const notices = await page.evaluate<readonly (readonly [string, number])[]>('notices');
    expect(notices.map(([text]) => text)).toEqual([
      'The connection was lost.',
      expect.stringContaining('The daemon was restarted') as string,
    ]);
    // Five seconds apart, less what an observer on a busy machine is late for the first.
    expect((notices[1]?.[1] ?? 0) - (notices[0]?.[1] ?? 0)).toBeGreaterThanOrEqual(4500);
  } finally {
    await next.stop();
  }
});
