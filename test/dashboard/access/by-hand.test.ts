import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { requestsFor } from '../../../src/core/protocol/permissions.js';
import { hrefOf } from '../../../src/dashboard/route.js';
import { WireClient } from '../../support/wire.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest({ settings: { confirmation: { mode: 'operator', checkpoint: false } } });

/** Keeps the connection of the page where `ask` finds it. */
const KEEP_SOCKET = `{
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) { globalThis.pageSocket = this; return send.call(this, data); };
}`;

/** Numbers of answers that the client of the page does not use. */
let asked = 1_000_000;

/** Loads the page again, with its connection within reach. */
async function reachSocket(page: Page): Promise<void> {
  await page.addInitScript(KEEP_SOCKET);
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
}

/** Sends a request over the page's own connection, as a packet of Socket.IO; gives the answer. */
async function ask(page: Page, name: string, payload: object): Promise<{ readonly error?: { readonly code: string } }> {
  asked += 1;
  const packet = JSON.stringify(`42${asked}${JSON.stringify([name, payload])}`);
  const answer = await page.evaluate<string>(`new Promise((resolve) => {
    const take = ({ data }) => {
      if (typeof data !== 'string' || !data.startsWith('43${asked}')) return;
      pageSocket.removeEventListener('message', take);
      resolve(data);
    };
    pageSocket.addEventListener('message', take);
    pageSocket.send(${packet});
  })`);
  return (JSON.parse(answer.slice(`43${asked}`.length)) as [{ readonly error?: { readonly code: string } }])[0];
}

it('refuses a viewer each request that its page does not offer', async ({ openDashboard }) => {
  const { page } = await openDashboard({ role: 'viewer' });
  await reachSocket(page);
  expect((await ask(page, 'list_sessions', {})).error).toBeUndefined();
  const allowed = requestsFor('viewer');
  const refused = requestsFor('admin').filter((name) => !allowed.includes(name));
  expect(refused.length).toBeGreaterThan(20);
  for (const name of refused) {
    expect(await ask(page, name, {}), name).toMatchObject({ error: { code: 'FORBIDDEN' } });
  }
});

it('refuses an operator to use what an agent owns, over the connection of the page', async ({
  openDashboard,
  daemon,
}) => {
  await using agent = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('agent', 'owns'),
  });
  const session_id = await agent.openSession();
  const { page } = await openDashboard({ role: 'operator' });
  await reachSocket(page);
  for (const [name, payload] of [
    ['execute_command', { session_id, command: 'true' }],
    ['send_input', { session_id, data: 'x' }],
    ['resize_terminal', { session_id, rows: 10, cols: 10 }],
    ['create_token', { name: 'mine', role: 'admin' }],
  ] as const) {
    expect(await ask(page, name, payload), name).toMatchObject({ error: { code: 'FORBIDDEN' } });
  }
});

it('refuses a page of a local program to decide for an operator', async ({ openDashboard, daemon }) => {
  await using agent = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('agent', 'waits'),
  });
  const { page } = await openDashboard({ signIn: 'link', route: hrefOf('confirmations') });
  await reachSocket(page);
  const running = agent.run('rm -f kept').catch(() => undefined);
  const card = page.getByRole('article').filter({ hasText: 'waits' });
  await card.waitFor();
  const confirmation_id = await card.getAttribute('data-card');
  const answer = await ask(page, 'confirm_command', { confirmation_id, decision: 'approve', justification: 'mine' });
  expect(answer.error).toMatchObject({ code: 'FORBIDDEN' });
  await card.getByRole('button', { name: 'Approve' }).waitFor();
  await agent[Symbol.asyncDispose]();
  await running;
});
