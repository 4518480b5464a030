import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';

import type { Role } from '../../../src/core/principal.js';
import type { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { Faults } from './faults.js';
import { goTo } from './network-changes.js';

/** How to open the dashboard. */
export interface OpenOptions extends Pick<
  BrowserContextOptions,
  'viewport' | 'colorScheme' | 'reducedMotion' | 'ignoreHTTPSErrors'
> {
  /**
   * Role of the page.
   * @default 'admin'
   */
  readonly role?: Role;
  /** Name of its token, where it matters. */
  readonly name?: string;
  /**
   * How the page signs in: with a token of its own, by a link of a local program, by the one that the daemon prints at its start, or
   * not at all.
   * @default 'token'
   */
  readonly signIn?: 'token' | 'link' | 'printed link' | 'none';
  /** Another daemon than that of the file, for tests that end theirs. */
  readonly daemon?: TestDaemon;
  /**
   * The page after signing in, such as `#/sessions`.
   * @default '#/'
   */
  readonly route?: string;
}

/** An open dashboard, in a browser context of its own. */
export interface OpenedDashboard {
  readonly page: Page;
  /** Chromium's own protocol, for what Playwright has no method for. */
  readonly cdp: CDPSession;
  /** The token that the page has signed in with; undefined without one. */
  readonly token: string | undefined;
  /** Faults that the test expects. */
  readonly faults: Faults;
}

/** An opened dashboard, and what closes it. */
interface Opened extends OpenedDashboard {
  /** Closes the browser context. Throws when something has happened that must not. */
  readonly close: () => Promise<void>;
}

let tokens = 0;

/** Opens the dashboard of a daemon. */
export async function openDashboard(
  browser: Browser,
  ofFile: TestDaemon,
  {
    daemon = ofFile,
    role = 'admin',
    name = `page-${process.pid}-${(tokens += 1)}`,
    signIn = 'token',
    route = '#/',
    ...look
  }: OpenOptions,
): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...look });
  const faults = new Faults(daemon.url);
  await faults.watch(context);
  const page = await context.newPage();
  const token = signIn === 'token' ? daemon.createToken(role, name) : undefined;
  const fragment = token === undefined ? route : `#token=${token}`;
  const address = (await linkFor(signIn, daemon, role)) ?? `${daemon.url}/${fragment}`;
  await goTo(page, address, async () => {
    if (signIn !== 'none') await page.getByRole('navigation').first().waitFor();
  });
  if (signIn !== 'none' && route !== '#/') await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
  const close = async () => {
    await context.close();
    if (faults.unexpected.length > 0) throw new Error(`the page had faults:\n${faults.unexpected.join('\n')}`);
  };
  return { page, cdp: await context.newCDPSession(page), token, faults, close };
}

/** The link that signs in; undefined where none does. */
async function linkFor(signIn: OpenOptions['signIn'], daemon: TestDaemon, role: Role): Promise<string | undefined> {
  if (signIn === 'printed link') return eventually(() => printedLink(daemon));
  return signIn === 'link' ? makeLink(daemon, role) : undefined;
}

/** Makes a link as a local program does. */
async function makeLink(daemon: TestDaemon, role: Role): Promise<string> {
  await using client = await WireClient.connect(daemon.url);
  const { path } = await client.request('create_dashboard_link', { role });
  return daemon.url + path;
}

/** The link that a person reads in the terminal in which the daemon was started. */
function printedLink({ output }: TestDaemon): string {
  const [, link] = /^dashboard: (\S+) \(counts once/m.exec(output) ?? [];
  if (link === undefined) throw new Error(`there is no link in ${output}`);
  return link;
}
