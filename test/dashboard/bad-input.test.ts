import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import { dashboardTest } from './harness/dashboard-test.js';

const MAX_MESSAGE_BYTES = 65_536;

const it = dashboardTest({ settings: { socketio: { max_message_bytes: MAX_MESSAGE_BYTES } } });

it('says to a viewer on each page which role could', async ({ openDashboard }) => {
  const { page } = await openDashboard({ role: 'viewer' });
  const roles = [
    ['confirmations', 'agent, operator or admin'],
    ['audit', 'operator or admin'],
    ['policy', 'agent, operator or admin'],
    ['tokens', 'admin'],
    ['doctor', 'operator or admin'],
  ] as const;
  for (const [name, needed] of roles) {
    await page.evaluate(`location.hash = ${JSON.stringify(hrefOf(name))}`);
    const sentence = `This page needs the role ${needed}; this connection has the role viewer.`;
    await page.locator('main').getByText(sentence).waitFor();
  }
  for (const [name, shown] of [
    ['overview', 'No sessions'],
    ['recordings', 'No recordings'],
    ['checkpoints', 'No checkpoints'],
  ] as const) {
    await page.evaluate(`location.hash = ${JSON.stringify(hrefOf(name))}`);
    await page.getByText(shown, { exact: true }).waitFor();
  }
});

it('says why a command was not taken, and keeps it in its field', async ({ openDashboard, client }) => {
  const id = await client.openSession({ label: 'asked too much' });
  const { page } = await openDashboard({ route: hrefOf('sessions', [id]) });
  const field = page.getByRole('textbox', { name: 'Command' });
  const tooLarge = `echo ${'x'.repeat(MAX_MESSAGE_BYTES)}`;
  await field.fill(tooLarge);
  await field.press('Enter');
  await page.getByRole('form', { name: 'Run a command' }).getByRole('alert').filter({ hasText: 'bytes' }).waitFor();
  expect(await field.inputValue()).toBe(tooLarge);
  await field.fill('echo small-enough');
  await field.press('Enter');
  await page.locator('.xterm-rows').filter({ hasText: 'small-enough' }).waitFor();
  expect(await field.inputValue()).toBe('');
});

it('keeps what was typed when the token ends, for the same name alone', async ({ openDashboard, client, daemon }) => {
  const id = await client.openSession({ label: 'left open' });
  const { page } = await openDashboard({ name: 'typist', route: hrefOf('sessions', [id]) });
  const field = page.getByRole('textbox', { name: 'Command' });
  await field.fill('half a command');
  const signIn = async (token: string) => {
    await page
      .getByRole('alert')
      .filter({ hasText: /was (?:changed|revoked)/ })
      .waitFor();
    await page.getByLabel('Token').fill(token);
    await page.getByLabel('Token').press('Enter');
    await field.waitFor();
  };
  const { secret } = daemon.tokens.rotate('typist');
  await signIn(secret);
  expect(await field.inputValue()).toBe('half a command');
  daemon.tokens.revoke('typist');
  await signIn(daemon.createToken('admin', 'another'));
  expect(await field.inputValue()).toBe('');
});
