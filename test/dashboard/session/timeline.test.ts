import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import type { WireClient } from '../../support/wire.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest();

const COMMANDS = 100;

/** Opens a session that has run `: 1` and so on. */
async function openWithCommands(client: WireClient): Promise<string> {
  const id = await client.openSession({ label: 'long timeline' });
  for (let number = 1; number <= COMMANDS; number += 1) await client.run(`: ${number}`, id);
  return id;
}

/** The title of the detail, as an expression of the page. */
const TITLE = `[...document.querySelectorAll('h2')].find(({ textContent }) => textContent === 'Command')`;

/** Whether the middle of the title is seen: inside the window, with nothing over it. */
const isSeen = (page: Page) =>
  page.evaluate<boolean>(`{
    const title = ${TITLE};
    const { left, top, bottom, height } = title.getBoundingClientRect();
    const isInside = top >= 0 && bottom <= innerHeight;
    isInside && title.contains(document.elementFromPoint(left + 5, top + height / 2));
  }`);

const hasFocus = (page: Page) => page.evaluate<boolean>(`${TITLE} === document.activeElement`);

const textOf = (page: Page) => page.getByRole('region', { name: 'Text of the command' });

const scrolled = (page: Page) => page.evaluate<number>('scrollY');

it.for([
  ['wide', { width: 1280, height: 800 }],
  ['narrow', { width: 390, height: 640 }],
] as const)('shows the detail of the last of many commands: %s', async ([, viewport], { openDashboard, client }) => {
  const id = await openWithCommands(client);
  const { page } = await openDashboard({ route: `#/sessions/${id}?view=timeline`, viewport });
  await page.getByRole('link', { name: ': 100', exact: true }).waitFor();
  // Without a row that has the focus, k goes to the last one: the oldest command.
  await page.keyboard.press('k');
  expect(await scrolled(page)).toBeGreaterThan(1000);
  await page.keyboard.press('Enter');
  await textOf(page).getByText(': 1', { exact: true }).waitFor();
  await expect.poll(() => isSeen(page)).toBe(true);
  expect(await hasFocus(page)).toBe(true);
  // The keys go on from the row that is selected.
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await textOf(page).getByText(': 2', { exact: true }).waitFor();
  await expect.poll(() => isSeen(page)).toBe(true);
  // The same once more.
  const link = page.getByRole('link', { name: ': 2', exact: true });
  await link.focus();
  expect(await isSeen(page)).toBe(false);
  await link.press('Enter');
  await expect.poll(() => isSeen(page)).toBe(true);
  await client.request('close_session', { session_id: id });
});

it('does not move, and does not take the focus, for a command that a link has opened', async ({
  openDashboard,
  client,
}) => {
  const id = await client.openSession({ label: 'linked' });
  const { command_id: command } = await client.run('echo linked', id);
  const { page } = await openDashboard({ route: `#/sessions/${id}?view=timeline&command=${command}` });
  await page.getByRole('region', { name: 'Output: stdout' }).filter({ hasText: 'linked' }).waitFor();
  expect(await isSeen(page)).toBe(true);
  expect(await scrolled(page)).toBe(0);
  expect(await hasFocus(page)).toBe(false);
  await client.request('close_session', { session_id: id });
});

it('keeps the order of the rows when a command is selected, and not the part of the output of the one before', async ({
  openDashboard,
  client,
}) => {
  const id = await client.openSession({ label: 'ordered' });
  for (const command of ['echo b', 'echo c', 'echo a']) await client.run(command, id);
  const { page } = await openDashboard({ route: `#/sessions/${id}?view=timeline` });
  const list = page.getByRole('region', { name: 'Commands of the session' });
  const commands = () => list.locator('a[data-row]').allInnerTexts();
  const header = list.getByRole('columnheader', { name: 'Command' });
  await header.getByRole('button').click();
  await expect.poll(commands).toEqual(['echo a', 'echo b', 'echo c']);
  for (const command of ['echo c', 'echo a']) {
    await list.getByRole('link', { name: command, exact: true }).click();
    await textOf(page).getByText(command, { exact: true }).waitFor();
    expect(await commands()).toEqual(['echo a', 'echo b', 'echo c']);
    expect(await header.getAttribute('aria-sort')).toBe('ascending');
    expect(page.url()).toMatch(/[?&]sort=command&/);
    expect(page.url()).not.toMatch(/stream|offset/);
    await page.getByRole('button', { name: 'stderr 0 B' }).click();
    expect(page.url()).toMatch(/[?&]stream=stderr/);
  }
  await client.request('close_session', { session_id: id });
});
