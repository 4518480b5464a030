import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { MIB } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest();

const rows = (page: Page) => page.locator('.xterm-rows');
/** A button that can be pressed. */
const enabled = (page: Page, name: RegExp) =>
  page.getByRole('button', { name }).and(page.locator('[aria-disabled=false]'));

it('edits a file in vim, key by key', async ({ openDashboard, daemon, client }) => {
  const id = await client.openSession({ label: 'editor', rows: 24, cols: 80 });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).waitFor();
  const command = 'vim -u NONE -n -N notes.txt';
  const ended = client.request('execute_command', { session_id: id, command, tty: true });
  await rows(page).filter({ hasText: '"notes.txt"' }).waitFor();
  await enabled(page, /^Type/).click();
  await page.keyboard.type('ifrom a browser');
  await page.keyboard.press('Enter');
  await page.keyboard.type('second');
  await rows(page).filter({ hasText: 'second' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.type('Afirst line: ');
  await page.keyboard.press('Escape');
  await page.keyboard.type(':wq');
  await page.keyboard.press('Enter');
  expect(await ended).toMatchObject({ exit_code: 0 });
  expect(readFileSync(join(daemon.workspace, 'notes.txt'), 'utf8')).toBe('from a browserfirst line: \nsecond\n');
  await client.request('close_session', { session_id: id });
});

it('holds no command while the page is frozen, and then shows the end', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'frozen' });
  const { page, cdp } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).waitFor();
  await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
  const flood = `yes 'while nobody looks' | head -c ${50 * MIB}; echo; echo the-last-line`;
  const result = await client.request('execute_command', { session_id: id, command: flood });
  expect(result).toMatchObject({ exit_code: 0, stdout_bytes: 50 * MIB + '\nthe-last-line\n'.length });
  await cdp.send('Page.setWebLifecycleState', { state: 'active' });
  await rows(page).filter({ hasText: 'the-last-line' }).waitFor();
  await client.request('close_session', { session_id: id });
});

/** 20 MB in 200,000 lines, as long as those of logs. */
const NUMBERED_LINES = `seq -f '%.0f ${'a line of a log '.repeat(5)}of some length' 1000000000 1000199999`;

it(
  'finds a line in 20 MB of output by a regular expression',
  { timeout: 400_000 },
  async ({ openDashboard, client }) => {
    const id = await client.openSession({ label: 'large' });
    await client.request('execute_command', { session_id: id, command: NUMBERED_LINES });
    const { page } = await openDashboard({ route: `#/sessions/${id}?view=timeline` });
    await page.getByRole('link', { name: 'seq -f' }).click();
    await page.getByRole('searchbox', { name: 'Text to find' }).fill('^10001[0-9]{3}99 ');
    await page.getByRole('checkbox', { name: 'Regular expression' }).check();
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page
      .getByRole('status')
      .filter({ hasText: /^500 lines at least$/ })
      .waitFor({ timeout: 300_000 });
    await page.getByRole('button', { name: '1000100099' }).click();
    await page.getByRole('region', { name: 'Output: stdout' }).filter({ hasText: '1000100099' }).waitFor();
    await client.request('close_session', { session_id: id });
  },
);

it('lets an operator end what an agent runs, and type nothing', async ({ openDashboard, daemon }) => {
  await using agent = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('agent', 'runs-away'),
  });
  const id = await agent.openSession({ label: 'runaway' });
  const ended = agent.request('execute_command', { session_id: id, command: 'while :; do :; done' });
  const { page } = await openDashboard({ role: 'operator', route: `#/sessions/${id}` });
  await enabled(page, /^Terminate/).waitFor();
  for (const name of [/^Type/, /^Fit/, /^Run/, /^Open a shell/]) {
    const button = page.getByRole('button', { name });
    expect([name, await button.getAttribute('aria-disabled')]).toEqual([name, 'true']);
  }
  const token = daemon.createToken('operator', 'by-hand');
  await using operator = await WireClient.connect(daemon.url, ['websocket'], { token });
  for (const [name, payload] of [
    ['send_input', { session_id: id, data: 'x' }],
    ['execute_command', { session_id: id, command: 'true' }],
    ['resize_terminal', { session_id: id, rows: 10, cols: 10 }],
  ] as const) {
    expect(await operator.request(name, payload), name).toMatchObject({ error: { code: 'FORBIDDEN' } });
  }
  await enabled(page, /^Ctrl-C/).click();
  expect(await ended).toMatchObject({ status: 'interrupted' });
});
