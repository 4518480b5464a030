import { hrefOf } from '../../src/dashboard/router/route.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest({});

it('says that a part could not be loaded, and loads it with the page', async ({ openDashboard }) => {
  const { page, faults } = await openDashboard({ route: hrefOf('overview') });
  faults.expect(/ERR_FAILED/);
  const code = '**/assets/chart-canvas-*.js';
  await page.route(code, (route) => route.abort());
  // From now on nothing comes out of the cache of the browser.
  await page.reload();
  await page.getByText('The chart is missing').first().waitFor();
  await page.unroute(code);
  await page.getByRole('link', { name: 'Load it again' }).first().click();
  await page.locator('.chart canvas').first().waitFor();
});
