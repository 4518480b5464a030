import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { findViolations } from '../harness/axe.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest({ settings: { adapter: { memory_mb_limit: 200, process_limit: 40 } } });

const screen = (page: Page) => page.locator('.xterm-rows');
/** A button that can be pressed. */
const enabled = (page: Page, name: RegExp | string) =>
  page.getByRole('button', { name, exact: true }).and(page.locator('[aria-disabled=false]'));

/** Presses a button of two steps by keys. */
async function pressTwice(page: Page, button: Locator): Promise<void> {
  await button.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
}

it('kills, resets and closes in two steps', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'two steps' });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await screen(page).waitFor();

  const stubborn = client.run(`sh -c 'trap "" INT TERM; while :; do sleep 1; done'`, id);
  await enabled(page, 'Kill').click();
  await page.getByRole('button', { name: 'Kill it now?' }).click();
  expect(await stubborn).toMatchObject({ exit_code: 137 });

  await client.run('KEPT=1', id);
  const running = client.run('sleep 600', id);
  await enabled(page, 'Reset').click();
  await page.getByRole('button', { name: 'End all in it, new shell?' }).click();
  await running;
  expect(await client.run('echo "kept: $KEPT"', id)).toMatchObject({ stdout: 'kept: \n' });

  await enabled(page, 'Close').click();
  await page.getByRole('button', { name: 'Close the session?' }).click();
  await page.getByRole('status').filter({ hasText: 'This session has ended' }).waitFor();
  expect((await client.request('get_session', { session_id: id })).error?.code).toBe('SESSION_NOT_FOUND');
});

it('says of a command that ignores signals what ends it, and offers that by keys', async ({
  openDashboard,
  client,
}) => {
  const id = await client.openSession({ label: 'ignores signals' });
  const { page, cdp } = await openDashboard({ route: `#/sessions/${id}` });
  await screen(page).waitFor();
  const stubborn = client.run(`trap '' INT TERM; echo found-later; while :; do sleep 600; done`, id);
  await enabled(page, 'Ctrl-C').press('Enter');
  const advice = page.locator('.still-runs');
  await advice.getByText('It still runs after Ctrl-C.').waitFor();
  expect(await findViolations(cdp)).toEqual([]);
  await pressTwice(page, advice.getByRole('button', { name: 'Kill' }));
  await advice.waitFor({ state: 'detached' });
  // The next program of the loop has begun.
  await advice.getByText('It still runs after Kill.').waitFor();
  expect(await advice.getByRole('button', { name: 'Kill' }).count()).toBe(0);
  await pressTwice(page, advice.getByRole('button', { name: 'Reset' }));
  await advice.waitFor({ state: 'detached' });
  expect(await stubborn).toMatchObject({ stdout: 'found-later\n', killed_by: 'client' });
  expect(await client.run('echo works-again', id)).toMatchObject({ stdout: 'works-again\n' });
  await screen(page).filter({ hasText: 'works-again' }).waitFor();
  await client.request('close_session', { session_id: id });
});

it('kills a loop of the shell itself that ignores signals', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'spins' });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await screen(page).waitFor();
  const spinning = client.run(`trap '' INT TERM; while :; do :; done`, id);
  await enabled(page, 'Kill').click();
  await page.getByRole('button', { name: 'Kill it now?' }).click();
  expect(await spinning).toMatchObject({ killed_by: 'signal' });
  expect(await client.run('echo works-again', id)).toMatchObject({ stdout: 'works-again\n' });
  await client.request('close_session', { session_id: id });
});

it('forgets the first of two steps when the second does not come', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'only asked' });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await enabled(page, 'Close').click();
  await page.getByRole('button', { name: 'Close the session?' }).waitFor();
  await enabled(page, 'Close').waitFor();
  expect(await client.request('get_session', { session_id: id })).toMatchObject({ session_id: id });
  await client.request('close_session', { session_id: id });
});

it('opens a shell and types into it, and has the commands before at the arrow keys', async ({
  openDashboard,
  client,
}) => {
  const id = await client.openSession({ label: 'a shell' });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await screen(page).waitFor();
  const field = page.getByRole('textbox', { name: 'Command', exact: true });
  for (const command of ['echo one-first', 'echo two-second']) {
    await field.fill(command);
    await field.press('Enter');
    await screen(page)
      .filter({ hasText: `\n${command.slice(5)}` })
      .or(screen(page).filter({ hasText: command.slice(5) }))
      .first()
      .waitFor();
  }
  await field.fill('not sent');
  await field.press('ArrowUp');
  expect(await field.inputValue()).toBe('echo two-second');
  await field.press('ArrowUp');
  expect(await field.inputValue()).toBe('echo one-first');
  await field.press('ArrowDown');
  await field.press('ArrowDown');
  expect(await field.inputValue()).toBe('not sent');

  await page.getByRole('button', { name: 'Open a shell' }).click();
  await page.getByRole('button', { name: 'Typing' }).waitFor();
  // Keys of the page are those of the shell now.
  await page.keyboard.type('PS1=; cd /tmp; echo "in-$PWD-g-o"');
  await page.keyboard.press('Enter');
  await screen(page).filter({ hasText: 'in-/tmp-g-o' }).waitFor();
  expect(page.url()).toContain(id);
  await page.keyboard.type('exit');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Type/ }).waitFor();
  await client.request('close_session', { session_id: id });
});

it('shows what is used of each limit, and which came near', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'near its limits' });
  const { page } = await openDashboard({ route: `#/sessions/${id}?view=limits` });
  const memory = page.getByRole('region', { name: 'Memory' });
  await memory.getByText('limit 200 MB').waitFor();
  await page.getByText('While this page is open, they are listed here.').waitFor();
  const hog = `node -e 'const all = Buffer.alloc(178e6, 1); setTimeout(() => all, 600000)'`;
  const { command_id } = await client.run(hog, id, { background: true });
  await page
    .getByRole('listitem')
    .filter({ hasText: /Memory: 1\d\d of 200 MB, near the limit/ })
    .first()
    .waitFor();
  await memory.getByRole('meter', { name: 'Memory' }).waitFor();
  await memory.getByRole('img', { name: /^Memory: now \d+ MB; warning at / }).waitFor();
  await client.request('signal_command', { command_id, signal: 'SIGKILL' });
  await memory.getByText(/most 1\d\d MB/).waitFor();
  await page.getByRole('button', { name: 'As table' }).click();
  await page
    .getByRole('region', { name: 'Usage of the session' })
    .getByRole('row')
    .filter({ hasText: /1\d\d MB/ })
    .first()
    .waitFor();
  await client.request('close_session', { session_id: id });
});

it('says what is wrong with a session, and what to do', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'not healthy' });
  await client.run('mkdir gone; cd gone; rmdir "$PWD"', id);
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await page.getByText('DIRECTORY_GONE').waitFor();
  await page.getByText('Use cd, or cwd with the next command').waitFor();
  await client.run('cd /', id);
  await page.getByText('DIRECTORY_GONE').waitFor({ state: 'detached' });
  await client.request('close_session', { session_id: id });
});
