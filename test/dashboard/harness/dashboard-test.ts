import { daemonTest } from '../../support/daemon-test.js';
import type { DaemonOptions } from '../../support/daemon.js';
import { canRun, launchChromium } from './chromium.js';
import { openDashboard, type OpenedDashboard, type OpenOptions } from './open-dashboard.js';

/** Opens the dashboard of the daemon of this file. */
export type OpenDashboard = (options?: OpenOptions) => Promise<OpenedDashboard>;

/**
 * Gives an `it` whose tests take `openDashboard`, and the `daemon` and `client` of `daemonTest`: `it('shows sessions', async ({
 * openDashboard }) => { const { page } = await openDashboard({ role: 'viewer' }); … })`. The daemon and one Chromium are shared by
 * all tests of the file. A test fails when its pages had an error of the console or a script, a violation of the content security
 * policy, or a request to another origin. Without Chromium the tests are skipped.
 */
export const dashboardTest = (options: DaemonOptions = {}) => {
  const it = daemonTest(options)
    // eslint-disable-next-line no-empty-pattern -- vitest reads the names of what a fixture needs from its pattern
    .extend('browser', { scope: 'file' }, async ({}, { onCleanup }) => {
      const browser = await launchChromium();
      onCleanup(() => browser.close());
      return browser;
    })
    .extend('openDashboard', ({ browser, daemon }, { onCleanup }) => {
      const opened: { readonly close: () => Promise<void> }[] = [];
      onCleanup(async () => {
        const results = await Promise.allSettled(opened.map(({ close }) => close()));
        for (const result of results) if (result.status === 'rejected') throw result.reason;
      });
      const open: OpenDashboard = async (asked = {}) => {
        const one = await openDashboard(browser, daemon, asked);
        opened.push(one);
        return one;
      };
      return open;
    });
  return canRun ? it : (it.skip as typeof it);
};
