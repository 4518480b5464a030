import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import { eventually } from '../support/measure.js';
import { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest();

/** Files in a directory that have a text. */
const filesWith = (directory: string, text: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(directory, name);
    return statSync(path).isFile() && readFileSync(path).includes(text);
  });

it('follows the audit log, and says that it is as it was written', async ({ openDashboard, client }) => {
  const { page } = await openDashboard({ role: 'operator', route: hrefOf('audit') });
  await page.getByText(/^Verified/).waitFor();
  await client.run('echo seen-by-the-tail');
  await page.getByText('seen-by-the-tail').first().waitFor();
});

it('filters the audit log, shows a record, and reads older ones', async ({ openDashboard, client }) => {
  for (let number = 0; number < 120; number++) await client.run(`true ${number}`);
  const { page } = await openDashboard({ role: 'operator', route: hrefOf('audit') });
  const older = page.getByRole('button', { name: 'Older records' });
  await older.and(page.locator('[aria-disabled=false]')).click();
  await page.getByText(/^(?!100 )\d{3} records$/).waitFor();
  await page.getByLabel('Text', { exact: true }).fill('true 37');
  await page.getByText(/^[12] records?$/).waitFor();
  expect(page.url()).toContain('text=true');
  await page.getByRole('row').filter({ hasText: 'true 37' }).first().getByRole('link').click();
  await page.getByRole('dialog').getByText('"true 37"').first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('row').filter({ hasText: 'true 119' }).first().waitFor();
});

it('judges a command as it is typed, in words', async ({ openDashboard }) => {
  const { page } = await openDashboard({ route: hrefOf('policy') });
  await page.getByLabel(/^Command/).fill('ls; rm -rf /etc/nothing');
  const verdict = page.locator('.verdict');
  await verdict.waitFor();
  await page.getByRole('region', { name: 'Judged commands' }).getByText('rm -rf /etc/nothing').first().waitFor();
});

it('judges a command as it would be in a session', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'has an alias' });
  await client.run("alias tidy='rm -rf'", id);
  const { page } = await openDashboard({ route: hrefOf('policy') });
  await page.getByLabel(/^Command/).fill('tidy /etc/nothing');
  const judged = page.getByRole('region', { name: 'Judged commands' });
  await judged.getByText('tidy /etc/nothing').first().waitFor();
  expect(await judged.innerText()).not.toContain('rm -rf');
  await page.getByLabel(/^Session/).selectOption({ label: 'has an alias (local)' });
  await judged.getByText('rm -rf /etc/nothing').first().waitFor();
  await client.request('close_session', { session_id: id });
});

it('judges a command as it would be in a directory', async ({ openDashboard, client }) => {
  const ask = { command: 'rm -r conf.d' };
  const [here] = (await client.request('check_command', ask)).reasons;
  const [there] = (await client.request('check_command', { ...ask, cwd: '/etc' })).reasons;
  expect(there).not.toBe(here);
  const { page } = await openDashboard({ route: hrefOf('policy') });
  await page.getByLabel(/^Command/).fill(ask.command);
  const reasons = page.getByRole('region', { name: 'Reasons' });
  await reasons.getByText(here ?? '').waitFor();
  await page.getByLabel(/^Directory/).fill('/etc');
  await reasons.getByText(there ?? '').waitFor();
});

it('shows the secret of a new token once, and ends tokens in two steps', async ({ openDashboard, daemon }) => {
  const { page } = await openDashboard({ route: hrefOf('tokens') });
  await page.getByLabel('Name').fill('made-here');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const secret = await page.locator('.secret code').innerText();
  expect(secret).toMatch(/^sa/);
  await page.getByRole('button', { name: 'I have kept it' }).click();
  expect(await page.content()).not.toContain(secret);
  expect(filesWith(daemon.directory, secret)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
  const row = page.getByRole('row').filter({ hasText: 'made-here' });
  await row.getByRole('button', { name: 'Rotate' }).click();
  await row.getByRole('button', { name: /^Rotate:/ }).click();
  const rotated = await page.locator('.secret code').innerText();
  expect(rotated).not.toBe(secret);
  await using holder = await WireClient.connect(daemon.url, ['websocket'], { token: rotated });
  await expect(WireClient.connect(daemon.url, ['websocket'], { token: secret })).rejects.toThrow();
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect.poll(() => row.getByRole('cell').nth(2).innerText()).toBe('1');
  await row.getByRole('button', { name: 'Revoke' }).click();
  await row.getByRole('button', { name: /^Revoke:/ }).click();
  await row.waitFor({ state: 'detached' });
  expect(await holder.event('access_ended')).toMatchObject({ message: expect.stringContaining('revoked') as string });
});

it('says what the machine has, and what to do about what it lacks', async ({ openDashboard, client }) => {
  const { page } = await openDashboard({ role: 'operator', route: hrefOf('doctor') });
  const { checks } = await client.request('examine_machine', {});
  await page
    .locator('.checks li')
    .nth(checks.length - 1)
    .waitFor();
  const shown = await page.locator('.checks').allInnerTexts();
  for (const { detail, fix } of checks) {
    expect(shown.join('\n')).toContain(detail);
    if (fix !== undefined) expect(shown.join('\n')).toContain(fix);
  }
  const { hostname, sandbox, resource_limits: limits } = await client.request('shell_metadata', {});
  for (const text of [hostname, sandbox.profile, limits.mechanism]) await page.getByText(text).first().waitFor();
});

/** A result of the check is kept for 30 s: this test comes last. */
it('tells when the audit log was tampered with', async ({ openDashboard, daemon, client }) => {
  await client.run('echo as-it-was');
  const text = await eventually(() => {
    const records = readFileSync(daemon.auditFile, 'utf8');
    expect(records).toContain('as-it-was');
    return records;
  });
  writeFileSync(daemon.auditFile, text.replace('as-it-was', 'never-was'));
  const { page } = await openDashboard({ role: 'operator', route: hrefOf('audit') });
  const verify = async () => {
    await page.getByRole('button', { name: 'Verify again' }).click();
    return page.locator('main').innerText();
  };
  await expect.poll(verify, { timeout: 40_000, interval: 1000 }).toContain('Tampered with or damaged');
});
