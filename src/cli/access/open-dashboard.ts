import { constants } from 'node:os';

import type { AdapterClient } from '../../client/index.js';
import { readLife } from '../../core/access/token.js';
import type { Role } from '../../core/access/roles.js';
import { MAX_SIGN_IN_MS, MIN_SIGN_IN_MS } from '../../core/protocol/requests/dashboard.js';
import type { Context } from '../console/context.js';
import { CommandLineError, UsageError } from '../console/failure.js';
import { type DaemonOptions, findDaemon } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { browsersOf, openBrowser, RedirectFile } from './browser.js';

/** Exit codes of signals begin above this, as those of shells do. */
const SIGNAL_EXIT_BASE = 128;

/** Options of `dashboard`. */
export interface DashboardOptions extends DaemonOptions {
  readonly role?: Role;
  readonly for: string;
  readonly print?: boolean;
}

/**
 * Opens the dashboard in a browser, or prints its link.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function openDashboard(context: Context, options: DashboardOptions): Promise<void> {
  const expires_in_ms = readLife(options.for);
  if (expires_in_ms === undefined || expires_in_ms > MAX_SIGN_IN_MS || expires_in_ms < MIN_SIGN_IN_MS) {
    throw new UsageError(`--for: ${JSON.stringify(options.for)} is not a time from 1m to 12h`, {
      hint: 'It looks like 30m or 8h.',
    });
  }
  const base = pageUrlOf((await findDaemon(options, context)).url);
  await withDaemon(options, context, async (client) => {
    const { role } = options;
    const link = await client.request('create_dashboard_link', { expires_in_ms, ...(role !== undefined && { role }) });
    const url = `${base}${link.path}`;
    const browsers = options.print === true ? [] : browsersOf(context.env);
    if (browsers.length > 0 && (await openSignedIn(context, client, { ...link, url, browsers }))) return;
    await context.stderr.write(`shell-adapter: this link counts once, for a minute (role ${link.role})\n`);
    await context.stdout.write(`${url}\n`);
  });
}

/** A link, and what opens it. */
interface LinkToOpen {
  readonly url: string;
  readonly path: string;
  readonly expires_at: string;
  readonly browsers: readonly string[];
}

/**
 * Opens a browser and waits until it has used the link; returns false when none can be opened.
 * @throws CommandLineError when the browser does not use the link in time
 */
async function openSignedIn(context: Context, client: AdapterClient, link: LinkToOpen): Promise<boolean> {
  using file = new RedirectFile(link.url, context.env);
  // The file must not stay, however the wait ends.
  const signals = context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], (signal) => {
    file[Symbol.dispose]();
    context.exitNow(SIGNAL_EXIT_BASE + constants.signals[signal]);
  });
  try {
    return await openAndWait(context, client, { ...link, url: file.url });
  } finally {
    signals[Symbol.dispose]();
  }
}

async function openAndWait(
  { env, stderr }: Context,
  client: AdapterClient,
  { url, path, expires_at: end, browsers }: LinkToOpen,
): Promise<boolean> {
  const used = waitForUse(client, path, Math.max(0, Date.parse(end) - Date.now()));
  if (!(await openBrowser(url, browsers, env))) return false;
  await stderr.write('shell-adapter: waiting for the browser…\n');
  if (await used) {
    await stderr.write('shell-adapter: the browser is signed in\n');
    return true;
  }
  throw new CommandLineError('the browser has not used the link within a minute', {
    hint: '`shell-adapter dashboard --print` prints a link to open by hand.',
  });
}

function waitForUse(client: AdapterClient, path: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isUsed: boolean) => {
      clearTimeout(timer);
      stop();
      resolve(isUsed);
    };
    const timer = setTimeout(settle, timeoutMs, false);
    const stop = client.on('dashboard_link_used', (event) => {
      if (event.path === path) settle(true);
    });
  });
}

/**
 * Returns the address for a browser.
 * @throws UsageError for a Unix socket
 */
function pageUrlOf(url: string): string {
  if (url.startsWith('unix:')) {
    throw new UsageError('a browser cannot open a Unix socket', {
      hint: 'Give the address with --url http://HOST:PORT.',
    });
  }
  return url.replace(/^ws/, 'http').replace(/\/+$/, '');
}
