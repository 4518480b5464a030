import { expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';
import type { DaemonOptions } from '../../support/daemon.js';
import { canRun } from './chromium.js';
import { openDashboard, type OpenedDashboard, type OpenOptions } from './open-dashboard.js';
import { sharedBrowser } from './shared-browser.js';

/** Opens the dashboard of the daemon of this file. */
export type OpenDashboard = (options?: OpenOptions) => Promise<OpenedDashboard>;

/**
 * Gives an `it` whose tests take `openDashboard`, and the `daemon` and `client` of `daemonTest`: `it('shows sessions', async ({
 * openDashboard }) => { const { page } = await openDashboard({ role: 'viewer' }); … })`. The daemon is shared by all tests of the
 * file, and one Chromium by those of all files that a worker of vitest runs. A test fails when its pages had an error of the console
 * or a script, a violation of the content security policy, or a request to another origin. Without Chromium the tests are skipped.
 */
export const dashboardTest = (options: DaemonOptions = {}) => {
  const it = daemonTest(options)
    // eslint-disable-next-line no-empty-pattern -- vitest reads the names of what a fixture needs from its pattern
    .extend('browserOfWorker', { scope: 'worker' }, ({}, { onCleanup }) => {
      onCleanup(() => sharedBrowser[Symbol.asyncDispose]());
      return sharedBrowser;
    })
    .extend('browser', { scope: 'file' }, async ({ browserOfWorker }, { onCleanup }) => {
      const browser = await browserOfWorker.started();
      onCleanup(() => {
        expect(browser.contexts(), 'browser contexts that the tests have left').toEqual([]);
      });
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
