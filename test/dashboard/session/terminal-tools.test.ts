import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { stripAnsi } from '../../../src/core/output/ansi.js';
import { parseCast } from '../../../src/core/recording.js';
import { MAIN } from '../../support/daemon.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest();

const rows = (page: Page) => page.locator('.xterm-rows');
const button = (page: Page, name: RegExp | string) => page.getByRole('button', { name });
/** What is selected in the terminal. */
const selected = (page: Page) => page.locator('.xterm-selection div').count();

it('finds a text in the terminal, newest first, and follows again at its end', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'searched' });
  await client.run('echo first-needle; seq 200; echo second-needle; seq 200', id);
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).filter({ hasText: '200' }).waitFor();
  const field = page.getByRole('searchbox', { name: 'Search in the terminal' });
  await page.keyboard.press('/');
  await page.keyboard.type('NEEDLE');
  await page.keyboard.press('Enter');
  await rows(page).filter({ hasText: 'second-needle' }).waitFor();
  expect(await selected(page)).toBeGreaterThan(0);
  await page.keyboard.press('Enter');
  await rows(page).filter({ hasText: 'first-needle' }).waitFor();
  await field.fill('nowhere');
  await field.press('Enter');
  await page.getByRole('status').filter({ hasText: 'Not found' }).waitFor();

  // It stays where it was scrolled to, whatever is printed.
  await button(page, 'Follow').waitFor();
  await client.run('echo printed-meanwhile', id);
  await button(page, 'As text').click();
  await page.getByRole('log').getByText('printed-meanwhile').last().waitFor();
  await button(page, 'As text').click();
  expect(await rows(page).innerText()).toContain('first-needle');
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.press('End');
  await rows(page)
    .filter({ hasText: /printed-meanwhile[^]*printed-meanwhile/ })
    .waitFor();
  await button(page, 'Follow').waitFor({ state: 'detached' });
  await client.request('close_session', { session_id: id });
});

it('has larger and smaller text, by buttons and keys, and keeps the size', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'read from afar' });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).waitFor();
  const size = () => page.evaluate<string>(`getComputedStyle(document.querySelector('.xterm-rows')).fontSize`);
  const lines = () => page.locator('.xterm-rows > div').count();
  expect(await size()).toBe('13px');
  // A terminal begins with 24 lines, and then gets as many as there is room for.
  await expect.poll(lines).toBeGreaterThan(24);
  const before = await lines();
  for (const count of [1, 2, 3]) {
    await button(page, /^A\+/).click();
    await expect.poll(size).toBe(`${13 + count}px`);
  }
  await expect.poll(lines).toBeLessThan(before);
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.press('Control+-');
  await expect.poll(size).toBe('15px');
  await page.keyboard.press('Control+=');
  await expect.poll(size).toBe('16px');
  await page.reload();
  await rows(page).waitFor();
  await expect.poll(size).toBe('16px');
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.press('Control+0');
  await expect.poll(size).toBe('13px');
  await client.request('close_session', { session_id: id });
});

it('shows the output as lines of text that say what is stderr', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'as text' });
  await client.run('echo to-stdout; echo to-stderr >&2', id);
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await button(page, 'As text').click();
  const log = page.getByRole('log');
  const line = (text: string) => log.getByRole('listitem').filter({ hasText: text }).last();
  await line('to-stderr').waitFor();
  expect(await line('to-stderr').innerText()).toMatch(/^stderr: to-stderr/);
  expect(await line('to-stdout').innerText()).toBe('to-stdout');
  await button(page, 'As text').click();
  await button(page, 'Reader').click();
  await page.locator('.xterm-accessibility').waitFor({ state: 'attached' });
  await client.request('close_session', { session_id: id });
});

it('leads from what it has not shown to the output itself', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'gaps' });
  // Of an earlier command the last 8 KB are shown.
  await client.run('seq 5000; echo the-last-line', id);
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).filter({ hasText: 'the-last-line' }).waitFor();
  const field = page.getByRole('searchbox', { name: 'Search in the terminal' });
  await field.fill('not shown here');
  await field.press('Enter');
  const gap = rows(page).getByText('not shown here').first();
  await gap.waitFor();
  // The rows are behind the layer of the terminal that takes the pointer, and a link is one while the pointer is on it.
  const { x = 0, y = 0 } = (await gap.boundingBox()) ?? {};
  for (const step of [2, 6]) await page.mouse.move(x + step, y + 5);
  await page.locator('.xterm-cursor-pointer').waitFor();
  await page.mouse.click(x + 6, y + 5);
  await expect.poll(() => page.url()).toMatch(/view=timeline.*stream=stdout.*offset=\d+/);
  await page.getByRole('region', { name: 'Output: stdout' }).filter({ hasText: /^1$/m }).waitFor();
  await client.request('close_session', { session_id: id });
});

it('saves what was shown as an asciicast file, which replays', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'kept for others' });
  await client.run('echo before-the-page', id);
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).filter({ hasText: 'before-the-page' }).waitFor();
  await client.run('echo "€ and 漢字"; echo to-stderr >&2; false', id);
  await rows(page).filter({ hasText: 'exit 1' }).waitFor();
  const coming = page.waitForEvent('download');
  await button(page, 'Save').click();
  const download = await coming;
  expect(download.suggestedFilename()).toBe(`${id}.cast`);
  const path = await download.path();
  const { header, events } = parseCast(readFileSync(path, 'utf8'));
  expect(header).toMatchObject({ title: 'kept for others', width: expect.any(Number) as number });
  const times = events.map(([seconds]) => seconds);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'replay', path, '--speed', '1000']);
  const replayed = stripAnsi(stdout);
  for (const text of ['before-the-page', '€ and 漢字', 'to-stderr', 'exit 1']) expect(replayed).toContain(text);
  await client.request('close_session', { session_id: id });
});
