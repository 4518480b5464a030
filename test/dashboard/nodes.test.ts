import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect } from 'vitest';

import { dashboardTest } from './harness/dashboard-test.js';

const folder = mkdtempSync(join(tmpdir(), 'shell-adapter-dashboard-nodes-'));
const secretFile = join(folder, 'secret');
writeFileSync(secretFile, randomBytes(32).toString('hex'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const it = dashboardTest({
  settings: {
    cluster: {
      enabled: true,
      role: 'node',
      name: 'node-1',
      link_port: 0,
      insecure_links: true,
      secret_file: secretFile,
    },
  },
});

it('shows the node of each session in a cluster, and those of one node', async ({ openDashboard, client }) => {
  const session_id = await client.openSession({ label: 'placed' });
  const { page } = await openDashboard({ route: '#/overview' });
  const sessions = page.getByRole('region', { name: 'Sessions', exact: true });
  const row = sessions.getByRole('row').filter({ hasText: 'placed' });
  await row.filter({ hasText: 'node-1' }).waitFor();
  const choice = page.getByLabel('Node of the sessions');
  await choice.selectOption('node-1');
  expect(page.url()).toContain('node=node-1');
  await row.waitFor();
  await page.goto(page.url().replace('node=node-1', 'node=node-9'));
  await page.getByText('No session passes the filters').waitFor();
  await choice.selectOption('All nodes');
  await row.waitFor();
  await client.request('close_session', { session_id });
});
