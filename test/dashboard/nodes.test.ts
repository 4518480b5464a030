import { expect } from 'vitest';
import type { Page } from 'playwright-core';

import { readSamples } from '../support/network/prometheus.js';
import { WireClient } from '../support/wire.js';
import { findViolations } from './harness/axe.js';
import { clusterDashboardTest, WORKERS } from './harness/cluster-dashboard-test.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = clusterDashboardTest({
  confirmation: { mode: 'operator', checkpoint: false },
  llm: { shell_providers: { echo: { command: 'cat', stdin_mode: 'pipe' } } },
});

/** A table of the page, by its name. */
const table = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** The texts of the column of the node, in the order of the rows that have been waited for. */
const nodesIn = async (page: Page, name: string): Promise<readonly string[]> => {
  const cells = await table(page, name).locator('tbody tr td:nth-child(2)').allInnerTexts();
  return cells.sort();
};

/** Waits until the entries of a table are those of some nodes. */
const expectNodes = (page: Page, name: string, nodes: readonly string[]) =>
  expect.poll(() => nodesIn(page, name), { timeout: 20_000 }).toEqual(nodes);

/** The node of a command that runs. */
async function nodeOfCommand(client: WireClient, id: string): Promise<string | undefined> {
  const { commands } = await client.request('list_commands', { state: 'running' });
  return commands.find(({ command_id: each }) => each === id)?.node;
}

it('shows the node of sessions, commands, calls and confirmations, and those of one node', async ({
  openDashboard,
  client,
  daemon,
}) => {
  const ids = await Promise.all(
    WORKERS.map((node) => client.openSession({ label: `on ${node}`, placement: { node } })),
  );
  for (const id of ids) await client.run('sleep 600', id, { background: true });
  // Its id is of the client, and names no node.
  await client.run('sleep 601', undefined, { background: true, command_id: 'mine' });
  const oneShot = (await nodeOfCommand(client, 'mine')) ?? '';
  expect(WORKERS).toContain(oneShot);
  const call = await client.request('llm_call', {
    shell_provider: 'echo',
    messages: [{ role: 'user', content: 'hm' }],
  });
  expect(call.error).toBeUndefined();
  const { calls } = await client.request('list_llm_calls', {});
  await using agent = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('agent', crypto.randomUUID()),
  });
  const id = await agent.openSession({ placement: { node: 'worker-2' } });
  const asked = agent.run('rm -f anything', id).catch(() => undefined);

  const { page } = await openDashboard({ route: '#/overview' });
  await expectNodes(page, 'Sessions', ['worker-1', 'worker-2', 'worker-2']);
  await expectNodes(page, 'Running commands', [...WORKERS, oneShot].sort());
  await expectNodes(page, 'LLM calls', [calls[0]?.node ?? 'none']);
  await expectNodes(page, 'Waiting for confirmation', ['worker-2']);

  const choice = page.getByRole('combobox', { name: 'Node', exact: true });
  await choice.selectOption('worker-1');
  expect(page.url()).toContain('node=worker-1');
  await expectNodes(page, 'Sessions', ['worker-1']);
  await expectNodes(
    page,
    'Running commands',
    ['worker-1', oneShot].filter((node) => node === 'worker-1'),
  );
  await table(page, 'Waiting for confirmation').waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Confirmations' }).click();
  const card = page.getByRole('article').filter({ hasText: 'rm -f anything' });
  await card.filter({ hasText: 'worker-2' }).waitFor();
  await choice.selectOption('worker-1');
  await card.waitFor({ state: 'detached' });
  // A key decides nothing that is not shown.
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('r');
  await choice.selectOption('All nodes');
  await card.waitFor();
  expect(await card.innerText()).not.toContain('Enter: reject');
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('r');
  await card.getByText('Enter: reject').waitFor();

  await page.goto(page.url().replace(/#.*/, '#/overview?node=gone'));
  await page.getByText('No session passes the filters').waitFor();
  for (const session_id of ids) await client.request('close_session', { session_id });
  await client.request('signal_command', { command_id: 'mine', signal: 'SIGKILL' });
  await agent[Symbol.asyncDispose]();
  await asked;
});

it('has the checkpoints, the checks and the audit log of each node', async ({ openDashboard, client }) => {
  await client.request('checkpoint_workspace', { node: 'worker-2', label: 'of the second' });
  const { page } = await openDashboard({ route: '#/checkpoints' });
  const choice = page.getByRole('combobox', { name: 'Node', exact: true });
  await page.getByText('No checkpoints', { exact: true }).waitFor();
  await choice.selectOption('worker-2');
  await page.getByRole('row').filter({ hasText: 'of the second' }).getByRole('link').click();
  await page.getByText('No difference').waitFor();
  await page.getByRole('textbox', { name: 'Label' }).fill('by the page');
  await page.getByRole('button', { name: 'Save now' }).click();
  await page.getByRole('row').filter({ hasText: 'by the page' }).waitFor();
  await choice.selectOption('worker-1');
  await page.getByText('No checkpoints', { exact: true }).waitFor();

  await page.getByRole('link', { name: 'Doctor' }).click();
  await page.locator('.checks li').first().waitFor();
  // The gateway runs no commands, so that there is nothing to say of how they are confined.
  expect(await page.getByRole('heading', { name: 'Sandbox', exact: true }).count()).toBe(0);
  await choice.selectOption('worker-1');
  await page.getByRole('heading', { name: 'Sandbox', exact: true }).waitFor();

  await page.getByRole('link', { name: 'Audit' }).click();
  const opened = page.getByRole('row').filter({ hasText: 'checkpoint' });
  await page.getByRole('button', { name: 'Following' }).waitFor();
  await choice.selectOption('worker-2');
  await opened.first().waitFor();
  await page.getByText(/^Verified/).waitFor();
  await page.getByRole('button', { name: /^Follow \(not available/ }).waitFor();
});

/** How often the nodes were asked for. */
async function listings(url: string): Promise<number> {
  const samples = readSamples(await (await fetch(`${url}/metrics`)).text(), 'shell_adapter_');
  return samples.get('requests_total{request="list_nodes",outcome="ok"}') ?? 0;
}

it('lists the nodes, drains one, and shows which are lost, without asking again', async ({
  openDashboard,
  workers,
  client,
  daemon,
}) => {
  const session_id = await client.openSession({ placement: { node: 'worker-1' } });
  const { page, cdp } = await openDashboard({ route: '#/overview' });
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('worker-1').filter({ hasText: 'live' }).filter({ hasText: '1 of ' }).waitFor();
  const { nodes } = await client.request('list_nodes', {});
  const asked = await listings(daemon.url);
  expect(asked).toBeGreaterThan(0);
  await row('gate').filter({ hasText: 'gateway' }).filter({ hasText: 'this node' }).waitFor();
  await row('worker-2')
    .filter({ hasText: nodes[0]?.version ?? 'none' })
    .waitFor();
  expect(await findViolations(cdp, 'all')).toEqual([]);

  await row('worker-1').getByRole('button', { name: 'Drain' }).click();
  await row('worker-1').getByRole('button', { name: 'Take nothing new?' }).click();
  await row('worker-1').filter({ hasText: 'draining' }).waitFor();
  const placed = await client.request('open_session', { placement: { node: 'worker-1' } });
  expect(placed.error?.code).toMatch(/NO_CAPACITY|NODE_DRAINING/);
  await row('worker-1').getByRole('button', { name: 'Undrain' }).click();
  await row('worker-1').getByRole('button', { name: 'Take new work?' }).click();
  await row('worker-1').filter({ hasText: 'live' }).waitFor();
  await client.request('close_session', { session_id });
  await row('worker-1').filter({ hasText: '0 of ' }).waitFor();

  process.kill(workers[1]!.daemon.pid, 'SIGKILL');
  await row('worker-2').filter({ hasText: 'lost' }).waitFor();
  expect(await listings(daemon.url)).toBe(asked);
  await row('worker-2').getByRole('button', { name: 'Drain (not available: It is not connected.)' }).waitFor();
  await page.getByRole('link', { name: 'worker-1' }).click();
  await page.getByRole('heading', { name: /^Sessions/ }).waitFor();
  expect(page.url()).toContain('node=worker-1');
});

it('tells a role that may not see the nodes which one may', async ({ openDashboard }) => {
  const { page } = await openDashboard({ role: 'agent', route: '#/nodes' });
  await page.getByText('This page needs the role operator or admin').waitFor();
});

const alone = dashboardTest();

alone('shows nothing of nodes without a cluster', async ({ openDashboard, client }) => {
  const session_id = await client.openSession({ label: 'alone' });
  await client.run('sleep 600', session_id, { background: true });
  const { page } = await openDashboard({ route: '#/nodes' });
  await page.getByText('This daemon is not part of a cluster.').waitFor();
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  const running = table(page, 'Running commands');
  await running.getByRole('row').filter({ hasText: 'sleep 600' }).waitFor();
  expect(await page.getByRole('columnheader', { name: 'Node' }).count()).toBe(0);
  for (const name of ['Checkpoints', 'Recordings', 'Audit', 'Doctor', 'Confirmations', 'Overview']) {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Node', exact: true }).count()).toBe(0);
  }
  expect(await page.getByRole('link', { name: 'Nodes' }).count()).toBe(0);
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.getByText('g o').waitFor();
  expect(await keys.getByText('g n').count()).toBe(0);
  await client.request('close_session', { session_id });
});
