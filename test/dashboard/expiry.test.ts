import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest({ settings: { confirmation: { mode: 'operator', checkpoint: false, expires: 3 } } });

it('says that a confirmation has expired, and leaves nothing to press', async ({ openDashboard, daemon }) => {
  await using agent = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('agent', 'late'),
  });
  const { page } = await openDashboard({ role: 'operator', route: hrefOf('confirmations') });
  const running = agent.run('rm -f late');
  const card = page.getByRole('article').filter({ hasText: 'late' });
  await card.waitFor();
  expect(await running).toMatchObject({ error: { code: 'COMMAND_DENIED' } });
  await card.getByText('Expired', { exact: true }).waitFor();
  expect(await card.getByRole('button', { name: /Approve|Reject/ }).count()).toBe(0);
});
