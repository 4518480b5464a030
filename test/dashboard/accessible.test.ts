import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import { WireClient } from '../support/wire.js';
import { findViolations } from './harness/axe.js';
import { dashboardTest } from './harness/dashboard-test.js';
import type { OpenedDashboard } from './harness/open-dashboard.js';
import { allViews, fill, type View } from './harness/views.js';

const it = dashboardTest({ settings: { confirmation: { mode: 'operator', checkpoint: false } } });

const WIDTHS = [320, 390, 1280] as const;
/** Only rules of colours can have other results in the second one. */
const SCHEMES = [
  ['dark', 'all'],
  ['light', 'colours'],
] as const;

/** Finds what axe-core has against a view, and whether the page scrolls sideways, at all widths and in both colour schemes. */
async function examine({ page, cdp }: OpenedDashboard, view: string): Promise<readonly unknown[]> {
  const problems: unknown[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    for (const [colorScheme, rules] of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const violations = await findViolations(cdp, rules);
      if (violations.length > 0) problems.push({ view, width, colorScheme, violations });
    }
    const scrollWidth = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (scrollWidth !== width) problems.push({ view, width, scrollWidth });
  }
  return problems;
}

/** Takes views off a list, opens and examines them. */
async function walk(opened: OpenedDashboard, views: View[]): Promise<readonly unknown[]> {
  const view = views.shift();
  if (!view) return [];
  await opened.page.evaluate(`location.hash = ${JSON.stringify(view.route)}`);
  await view.isReady(opened.page);
  return [...(await examine(opened, view.name)), ...(await walk(opened, views))];
}

/** All views at three widths in two schemes: minutes on a machine that does other things, and for ever only if it hangs. */
const ALL_VIEWS = { timeout: 600_000 };

it(
  'is accessible and fits on every page, wide and narrow, dark and light',
  ALL_VIEWS,
  async ({ openDashboard, daemon, client }) => {
    const views = [...allViews(await fill(client))];
    await using agent = await WireClient.connect(daemon.url, ['websocket'], {
      token: daemon.createToken('agent', crypto.randomUUID()),
    });
    const asked = agent.run('rm -rf build').catch(() => undefined);
    const pages = await Promise.all([openDashboard(), openDashboard()]);
    const problems = await Promise.all(pages.map((opened) => walk(opened, views)));
    expect(problems.flat()).toEqual([]);
    await agent[Symbol.asyncDispose]();
    await asked;
  },
);

it('is accessible before signing in, with the list of keys, and where a role may not', async ({ openDashboard }) => {
  const signIn = await openDashboard({ signIn: 'none' });
  await signIn.page.getByLabel('Token').fill('sat_wrong');
  await signIn.page.getByRole('button', { name: 'Sign in' }).click();
  await signIn.page.getByRole('alert').waitFor();
  expect(await examine(signIn, 'sign-in')).toEqual([]);
  const viewer = await openDashboard({ role: 'viewer', route: hrefOf('audit') });
  await viewer.page.getByText('Not allowed').waitFor();
  expect(await examine(viewer, 'not allowed')).toEqual([]);
  await viewer.page.keyboard.press('?');
  await viewer.page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await examine(viewer, 'keys')).toEqual([]);
});
