import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';

import { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

const script = (name: string) => fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));

/** It must not install or build while other tests run. */
beforeAll(() => {
  execFileSync(script('prepare'), ['--check'], { encoding: 'utf8' });
});

/** As shipped: what may destroy data is confirmed by the one who runs it, or saved first. */
const it = dashboardTest({ settings: { confirmation: {} }, command: [script('start')] });

it('supervises an agent from the link that scripts/start prints, by keys alone', async ({ openDashboard, daemon }) => {
  await using agent = await WireClient.connect(daemon.url);
  await agent.run('echo kept > kept.txt');
  await agent.request('checkpoint_workspace', { label: 'before the agent' });
  const id = await agent.openSession({ label: 'agent at work' });
  const { page } = await openDashboard({ signIn: 'printed link' });
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  // Watch the session of the agent.
  await page.getByRole('row').filter({ hasText: 'agent at work' }).waitFor();
  await press('j', 'Enter');
  await page.locator('.xterm-rows').waitFor();
  await agent.run('echo seen-from-afar; mv kept.txt lost.txt', id);
  await page.locator('.xterm-rows').filter({ hasText: 'seen-from-afar' }).waitFor();

  // Approve a dangerous command.
  const dangerous = await agent.run('mkdir -p .git/hooks; echo approved; touch .git/hooks/pre-commit', id);
  expect(dangerous).toMatchObject({ status: 'confirmation_required' });
  await press('g', 'c');
  await page.getByRole('article').waitFor();
  await page.locator('.button.danger[aria-disabled=false]').first().waitFor();
  await press('a');
  await page.keyboard.type('the hook is wanted');
  await press('Enter');
  await page.getByRole('article').getByText('Approved', { exact: true }).waitFor();
  await expect.poll(() => existsSync(join(daemon.workspace, '.git/hooks/pre-commit'))).toBe(true);

  // Stop a runaway one: the button is reached by Tab.
  const runaway = agent.run('seq 5; while :; do :; done', id);
  await press('g', 'o');
  await page.getByRole('row').filter({ hasText: 'agent at work' }).filter({ hasText: 'busy' }).waitFor();
  await press('j', 'Enter');
  const stop = page.getByRole('button', { name: 'Ctrl-C' }).and(page.locator('[aria-disabled=false]'));
  await stop.waitFor();
  await tabTo(page, 'Ctrl-C');
  await press('Enter');
  expect(await runaway).toMatchObject({ status: 'interrupted' });

  // Find its output.
  await tabTo(page, 'Timeline');
  await press('Enter');
  await page.getByRole('row').filter({ hasText: 'seq 5' }).waitFor();
  await press('j', 'Enter');
  await page.getByRole('region', { name: 'Output: stdout' }).filter({ hasText: '5' }).waitFor();

  // Restore the workspace.
  await press('g', 'k');
  await page.getByRole('row').filter({ hasText: 'before the agent' }).waitFor();
  await press('j', 'Enter');
  await page.getByText('lost.txt').first().waitFor();
  await tabTo(page, 'Restore…');
  await press('Enter');
  await page.getByRole('dialog').getByText('Will be removed').waitFor();
  await tabTo(page, 'Restore');
  await press('Enter');
  await page.getByText('Restored.', { exact: true }).waitFor();
  expect(readFileSync(join(daemon.workspace, 'kept.txt'), 'utf8')).toBe('kept\n');
  expect(existsSync(join(daemon.workspace, 'lost.txt'))).toBe(false);
});

/** Most presses of Tab until something is reached: a page has fewer parts. */
const MAX_TABS = 100;

/** Moves the focus by Tab to what has a text. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let count = 0; count < MAX_TABS; count++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement.textContent.trim()')) === text) return;
  }
  throw new Error(`Tab does not lead to ${text}`);
}
