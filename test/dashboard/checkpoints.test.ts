import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest({ settings: { confirmation: { mode: 'operator', checkpoint: false } } });

it('restores a checkpoint after showing what changes, and undoes it', async ({ openDashboard, daemon, client }) => {
  await using operator = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('operator', 'decides'),
  });
  await client.run('echo kept > kept.txt');
  const { page } = await openDashboard({ route: hrefOf('checkpoints') });
  await page.getByLabel('Label').fill('before the change');
  await page.getByRole('button', { name: 'Save now' }).click();
  await page.getByRole('row').filter({ hasText: 'before the change' }).getByRole('link').waitFor();
  await client.run('echo more > added.txt; mv kept.txt moved.txt');
  await page.getByRole('row').filter({ hasText: 'before the change' }).getByRole('link').click();
  await page.getByText('added.txt').first().waitFor();
  await page.getByRole('button', { name: 'Restore…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Will be removed').waitFor();
  await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
  // Commands of the local client have run since: an operator is asked.
  await page.getByText('it waits here until it is').waitFor();
  const asked = await operator.event('confirmation_required', ({ kind }) => kind === 'restore');
  await operator.request('confirm_command', {
    confirmation_id: asked.confirmation_id,
    decision: 'approve',
    justification: 'agreed',
  });
  await page.getByText('Restored.', { exact: true }).waitFor();
  expect(existsSync(join(daemon.workspace, 'added.txt'))).toBe(false);
  expect(existsSync(join(daemon.workspace, 'kept.txt'))).toBe(true);

  await page.getByRole('button', { name: 'Undo the restore' }).and(page.locator('[aria-disabled=false]')).click();
  // No other token has run a command since.
  await expect.poll(() => readdirSync(daemon.workspace).toSorted()).toEqual(['added.txt', 'moved.txt']);
});

it('has few lines of a large diff in the page, and each can be reached', async ({ openDashboard, client }) => {
  await client.run('seq 1 3000 > large.txt');
  const { checkpoint_id: id } = await client.request('checkpoint_workspace', { label: 'before all lines change' });
  await client.run("sed -i 's/$/ changed/' large.txt");
  const { page } = await openDashboard({ route: hrefOf('checkpoints', [id]) });
  await page.getByRole('button', { name: 'Show lines' }).click();
  const lines = page.locator('.diff-line');
  await lines.first().waitFor();
  expect(await lines.count()).toBeLessThan(200);
  await page.evaluate(`document.querySelector('.diff').scrollTo(0, 1e6)`);
  await lines.getByText('3000 changed', { exact: true }).waitFor();
  expect(await lines.count()).toBeLessThan(200);
});
