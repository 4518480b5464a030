import { readFileSync } from 'node:fs';

import { expect } from 'vitest';

import { parseCast } from '../../src/core/recording.js';
import { hrefOf } from '../../src/dashboard/route.js';
import type { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest();

/** Records two commands. */
async function record(client: WireClient): Promise<string> {
  const { session_id: session, recording_id: id } = await client.request('open_session', {
    record: true,
    label: 'a recorded session',
    cols: 80,
    rows: 24,
  });
  await client.run('echo the-first-output', session);
  await client.run('sleep 1.5; echo the-second-output', session);
  await client.request('close_session', { session_id: session });
  return id ?? '';
}

it('lists recordings, and plays one: commands, time line, keys', async ({ openDashboard, client }) => {
  const id = await record(client);
  const { page } = await openDashboard({ route: hrefOf('recordings') });
  await page.getByRole('row').filter({ hasText: 'complete' }).getByText('a recorded session').waitFor();
  await page.getByRole('link', { name: 'a recorded session' }).click();
  const screen = page.locator('.xterm-rows');
  await screen.waitFor();
  expect(page.url()).toContain(id);
  const slider = page.getByRole('slider', { name: 'Position' });
  const position = async () => Number(await slider.inputValue());

  // A command of the list: its line is on the screen, its output is not yet.
  await page.getByRole('button', { name: 'sleep 1.5' }).click();
  await expect.poll(() => screen.innerText()).toContain('the-first-output');
  expect(await page.locator('[aria-current=step]').innerText()).toContain('sleep 1.5');
  const middle = await position();

  // The time line, to its end and back.
  await slider.press('End');
  await expect.poll(() => screen.innerText()).toMatch(/^the-second-output/mu);
  await slider.press('Home');
  await expect.poll(() => screen.innerText()).not.toContain('the-first-output');

  // Playing, by keys alone.
  const frame = page.getByRole('region', { name: 'Screen' });
  await page.getByLabel('Speed').selectOption('16');
  await frame.focus();
  await frame.press('Space');
  await expect.poll(() => screen.innerText()).toMatch(/^the-second-output/mu);
  await page.getByRole('button', { name: 'Play' }).waitFor();
  await frame.press('p');
  await expect.poll(position).toBeLessThanOrEqual(middle);
});

it('downloads and deletes a recording, in two steps', async ({ openDashboard, client }) => {
  const id = await record(client);
  const { page } = await openDashboard({
    route: hrefOf('recordings', [id]),
    viewport: { width: 390, height: 800 },
  });
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).click();
  const download = await coming;
  expect(download.suggestedFilename()).toBe(`${id}.cast`);
  const { header } = parseCast(readFileSync(await download.path(), 'utf8'));
  expect(header.title).toBe('a recorded session');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete for good?' }).click();
  await expect.poll(() => page.url()).toMatch(/#\/recordings$/u);
  const gone = await client.request('read_recording', { recording_id: id });
  expect(gone.error?.code).toBe('RECORDING_NOT_FOUND');
});

it('says of an unknown id that there is none, and leads on from a session', async ({ openDashboard, client }) => {
  const { session_id: session, recording_id: id } = await client.request('open_session', { record: true });
  const { page } = await openDashboard({ role: 'viewer', route: hrefOf('recordings', ['recording_unknown']) });
  await page.getByText('There is no such recording').waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(hrefOf('sessions', [session]))}`);
  await page.getByRole('link', { name: 'Recording', exact: true }).click();
  await expect.poll(() => page.url()).toContain(id ?? '');
  const remove = page.getByRole('button', { name: 'Delete' });
  expect(await remove.getAttribute('aria-disabled')).toBe('true');
  await page.getByText('Nothing was run in this session.').waitFor();
  await client.request('close_session', { session_id: session });
});
