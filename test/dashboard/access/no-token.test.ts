import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest({ settings: { auth: { mode: 'none' } } });

it('opens without signing in where no connection needs a token', async ({ openDashboard }) => {
  const { page } = await openDashboard({ signIn: 'none' });
  await page.getByRole('banner').filter({ hasText: 'admin' }).waitFor();
  await page.getByRole('heading', { name: 'Sessions', exact: false }).waitFor();
});
