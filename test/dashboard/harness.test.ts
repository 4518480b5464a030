import { expect } from 'vitest';

import { dashboardTest } from './harness/dashboard-test.js';
import { findViolations } from './harness/axe.js';

const it = dashboardTest();

/** What must fail a test, and a part of how it is reported. */
const FAULTS = [
  ['an error of the console', `console.error('something broke')`, /something broke/],
  ['an error of a script', `setTimeout(() => { throw new Error('thrown'); })`, /thrown/],
  ['a blocked style', `document.body.setAttribute('style', 'color: red')`, /securitypolicyviolation style-src-attr/],
  ['markup from text', `try { document.body.innerHTML = '<b>x</b>'; } catch {}`, /require-trusted-types-for/],
  ['another origin', `fetch('http://127.0.0.1:1/').catch(() => {})`, /securitypolicyviolation connect-src/],
] as const;

it.for(FAULTS)('the harness finds %s', async ([, script, fault], { openDashboard }) => {
  const { page, faults } = await openDashboard({ signIn: 'none' });
  await page.evaluate(`${script}; undefined`);
  await expect.poll(() => faults.unexpected).toContainEqual(expect.stringMatching(fault));
  faults.expect(/./);
});

it('the harness finds what people cannot use', async ({ openDashboard }) => {
  const { page, cdp } = await openDashboard({ signIn: 'none' });
  await page.getByLabel('Token').waitFor();
  await page.evaluate(`document.querySelector('main').append(document.createElement('button')); undefined`);
  expect(await findViolations(cdp)).toMatchObject([{ id: 'button-name' }]);
});

it('the dashboard cannot be framed', async ({ openDashboard, daemon }) => {
  const { page } = await openDashboard({ signIn: 'none' });
  // The dashboard allows no frames itself: an empty page tries.
  await page.goto('about:blank');
  await page.setContent(`<iframe src="${daemon.url}"></iframe>`);
  await expect.poll(() => page.frames().map((frame) => frame.url())).toContain('chrome-error://chromewebdata/');
});
