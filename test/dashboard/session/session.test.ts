import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { MIB, timed } from '../../support/measure.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest();

/** Bytes of the flood; all of them are printed, few are shown. */
const FLOOD_BYTES = 200 * MIB;
const MAX_HEAP_BYTES = 150 * MIB;

const rows = (page: Page) => page.locator('.xterm-rows');

async function run(page: Page, command: string, { hasTerminal = false } = {}): Promise<void> {
  await page.getByRole('checkbox', { name: 'Terminal' }).setChecked(hasTerminal);
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill(command);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
}

/** `npm run bench:dashboard` compares its time with that of a flood that nothing shows; a busy machine would fail a test of that. */
it('shows a flood, up to its last line, and keeps little of it', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'flood' });
  const flood = `yes 'a line of the flood' | head -c ${FLOOD_BYTES}; echo; echo the-last-line`;
  const { page, cdp } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).waitFor();
  await page.evaluate(
    `globalThis.frames = 0; requestAnimationFrame(function next() { frames += 1; requestAnimationFrame(next); })`,
  );
  const { ms, value } = await timed(() => client.request('execute_command', { session_id: id, command: flood }));
  expect(value).toMatchObject({ exit_code: 0, stdout_bytes: FLOOD_BYTES + '\nthe-last-line\n'.length });
  await expect.poll(() => rows(page).innerText()).toMatch(/the-last-line\s*$/);
  const frames = await page.evaluate<number>('frames');
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  console.log(
    `flood: ${Math.round(ms)} ms, ${Math.round((frames * 1000) / ms)} frames/s, heap ${Math.round(usedSize / MIB)} MiB`,
  );
  expect(usedSize).toBeLessThan(MAX_HEAP_BYTES);
  await client.request('close_session', { session_id: id });
});

it('ends an endless flood by Ctrl-C', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'endless' });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).waitFor();
  const endless = client.request('execute_command', { session_id: id, command: 'yes' });
  await expect.poll(() => rows(page).innerText()).toMatch(/(?:y\s+){9}/);
  await page.getByRole('button', { name: 'Ctrl-C' }).and(page.locator('[aria-disabled=false]')).click();
  const { ms, value } = await timed(() => endless);
  console.log(`Ctrl-C: ${Math.round(ms)} ms`);
  expect(value).toMatchObject({ status: 'interrupted' });
  // Nothing of the flood comes after its end.
  await rows(page)
    .filter({ hasText: /exit 130 interrupted/ })
    .waitFor();
  await client.request('close_session', { session_id: id });
});

it('types into what waits, and pastes several lines after a question', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'typing' });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).waitFor();
  await run(page, 'read -rsp "Password: " word; echo "got-$word"');
  await page.getByRole('status').filter({ hasText: 'waits for input: Password:' }).waitFor();
  await page.getByRole('button', { name: 'Type', exact: true }).click();
  await page.keyboard.type('secret');
  await page.keyboard.press('Enter');
  await rows(page).filter({ hasText: 'got-secret' }).waitFor();
  await run(page, 'stty -echo; cat', { hasTerminal: true });
  const type = page.getByRole('button', { name: 'Type', exact: true });
  await type.click();
  await page.keyboard.press('Control+Shift+Escape');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('BUTTON');
  await page.locator('.terminal-host').click();
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'first-line\\nsecond-line\\n');
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }`);
  await page.getByRole('dialog', { name: 'Paste 2 lines?' }).getByRole('button', { name: 'Paste' }).click();
  await rows(page).filter({ hasText: 'second-line' }).waitFor();
  await client.request('close_session', { session_id: id });
});

it('gives the session the size that is seen', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'size', cols: 200, rows: 50 });
  const { page } = await openDashboard({ route: `#/sessions/${id}` });
  await rows(page).waitFor();
  await page.getByRole('button', { name: 'Fit 200×50' }).click();
  const fitted = page.getByRole('button', { name: /^Fit (?!200×50)/ });
  const [cols, lines] = ((await fitted.textContent()) ?? '').replace('Fit ', '').split('×');
  const { stdout } = await client.request('execute_command', { session_id: id, command: 'stty size', tty: true });
  expect(stdout.trim()).toBe(`${lines} ${cols}`);
  await client.request('close_session', { session_id: id });
});

/** What is printed, and how it has to look. */
const LOOKS = [
  ['31', 'palette', { color: 'rgb(255, 123, 114)' }],
  ['38;5;208', 'indexed', { color: 'rgb(255, 135, 0)' }],
  ['38;2;10;220;250', 'direct', { color: 'rgb(10, 220, 250)' }],
  ['1', 'bold', { fontWeight: '700' }],
] as const;

it('shows colours under the strict policy', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'colours' });
  const { page } = await openDashboard({ route: `#/sessions/${id}`, colorScheme: 'dark' });
  await rows(page).waitFor();
  const text = LOOKS.map(([code, word]) => `\\033[${code}m${word}\\033[0m `).join('');
  const wide = '漢字 😀';
  await client.request('execute_command', { session_id: id, command: `printf '${text}${wide}\\n'` });
  await rows(page).filter({ hasText: wide }).waitFor();
  for (const [, word, look] of LOOKS) {
    const found = await page.evaluate<object>(`{
      const spans = [...document.querySelectorAll('.xterm-rows span')];
      const { color, fontWeight } = getComputedStyle(spans.findLast((one) => one.textContent.includes('${word}')));
      ({ color, fontWeight });
    }`);
    expect(found).toMatchObject(look);
  }
  await client.request('close_session', { session_id: id });
});

/** Selects a command of the timeline. The one before has the same fields: they are used once the wanted one is shown. */
async function select(page: Page, command: string): Promise<void> {
  await page.getByRole('link', { name: command, exact: true }).click();
  await page.getByRole('region', { name: 'Text of the command' }).getByText(command, { exact: true }).waitFor();
}

it('looks back: results, streams, search, download', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'timeline' });
  await client.request('execute_command', {
    session_id: id,
    command: 'echo to-out; echo to-err >&2; exit_code() { return 3; }; exit_code',
  });
  const hashed = await client.request('execute_command', { session_id: id, command: 'seq 1 1500000 | sha256sum' });
  await client.request('execute_command', { session_id: id, command: 'seq 1 1500000' });
  const { page } = await openDashboard({ route: `#/sessions/${id}?view=timeline` });
  await page.getByRole('row').filter({ hasText: 'exit 3' }).getByRole('link').click();
  await page.getByRole('region', { name: 'Output: stdout' }).filter({ hasText: 'to-out' }).waitFor();
  await page.getByRole('button', { name: 'stderr 7 B' }).click();
  await page.getByRole('region', { name: 'Output: stderr' }).filter({ hasText: 'to-err' }).waitFor();
  await select(page, 'seq 1 1500000');
  await page.getByRole('searchbox', { name: 'Text to find' }).fill('^14999[0-9]{2}$');
  await page.getByRole('checkbox', { name: 'Regular expression' }).check();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page
    .getByRole('status')
    .filter({ hasText: /^100 lines$/ })
    .waitFor();
  await page.getByRole('button', { name: '1499942' }).click();
  await page.getByRole('region', { name: 'Output: stdout' }).filter({ hasText: '1499942' }).waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  const hash = createHash('sha256');
  for await (const piece of createReadStream(await (await saved).path())) hash.update(piece as Buffer);
  expect(hashed.stdout).toContain(hash.digest('hex'));
  await client.request('close_session', { session_id: id });
  await page.getByRole('status').filter({ hasText: 'This session has ended' }).waitFor();
  await page.getByRole('link', { name: 'Terminal' }).click();
  expect(await page.getByRole('button', { name: /^Run/ }).getAttribute('aria-disabled')).toBe('true');
});

it('keeps the text of a search for the next stream and command, and drops its results', async ({
  openDashboard,
  client,
}) => {
  const id = await client.openSession({ label: 'searched twice' });
  await client.run('echo needle-one; echo needle-two >&2; echo needle-three >&2', id);
  await client.run('seq 3; echo needle-four', id);
  const { page } = await openDashboard({ route: `#/sessions/${id}?view=timeline` });
  await select(page, 'echo needle-one; echo needle-two >&2; echo needle-three >&2');
  const field = page.getByRole('searchbox', { name: 'Text to find' });
  const search = page.getByRole('button', { name: /^Search/ });
  expect(await search.getAttribute('aria-disabled')).toBe('true');
  await field.fill('need.e');
  await page.getByRole('checkbox', { name: 'Regular expression' }).check();
  const found = (text: string) => page.getByRole('status').filter({ hasText: text });
  await search.click();
  await found('1 line').waitFor();
  await page.getByRole('button', { name: 'stderr 24 B' }).click();
  await found('1 line').waitFor({ state: 'detached' });
  await search.click();
  await found('2 lines').waitFor();
  await select(page, 'seq 3; echo needle-four');
  await found('2 lines').waitFor({ state: 'detached' });
  expect(await field.inputValue()).toBe('need.e');
  expect(await page.getByRole('checkbox', { name: 'Regular expression' }).isChecked()).toBe(true);
  await field.press('Enter');
  await page.getByRole('button', { name: '4 needle-four' }).waitFor();
  await client.request('close_session', { session_id: id });
});

it('gives a viewer nothing to press, and says why', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'watched' });
  await client.request('execute_command', { session_id: id, command: 'sleep 60', background: true });
  const { page } = await openDashboard({ role: 'viewer', route: `#/sessions/${id}` });
  await rows(page).waitFor();
  for (const name of ['Ctrl-C', 'Terminate', 'Kill', 'Reset', 'Close', 'Type', 'Fit', 'Run', 'Open a shell']) {
    const button = page
      .getByRole('button', { name: new RegExp(`^${name} .*you have the role viewer|^${name}\\d`) })
      .first();
    expect([name, await button.getAttribute('aria-disabled')]).toEqual([name, 'true']);
  }
  await client.request('close_session', { session_id: id });
});
