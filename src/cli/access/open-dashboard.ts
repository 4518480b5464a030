import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { AdapterClient } from '../../client/index.js';
import type { Role } from '../../core/principal.js';
import { readLife } from '../../core/token.js';
import { MAX_SIGN_IN_MS, MIN_SIGN_IN_MS } from '../../core/protocol/bounds.js';
import { type DaemonOptions, findDaemon } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { CommandLineError, UsageError } from '../console/failure.js';

/** Time in which a program that cannot open a browser says so, in milliseconds. */
const LAUNCH_MS = 1500;

/** Programs that open a browser, by preference: command lines in which `%s` is the address, or which end before it. */
function browsersOf(env: Readonly<NodeJS.ProcessEnv>): readonly string[] {
  const named = (env['BROWSER'] ?? '').split(':').filter((command) => command.trim() !== '');
  const hasDisplay = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some(
    (display) => display !== undefined && display !== '',
  );
  return [...named, ...(hasDisplay ? ['xdg-open'] : [])];
}

/**
 * A file that leads a browser to an address. Only this user can read it; the arguments of a process, which all users can
 * read, have its path alone. Disposing it removes it.
 */
class RedirectFile implements Disposable {
  /** Its `file:` URL. */
  readonly url: string;
  readonly #directory: string;

  constructor(target: string, env: Readonly<NodeJS.ProcessEnv>) {
    // Made with mode 700.
    this.#directory = mkdtempSync(join(env['XDG_RUNTIME_DIR'] || tmpdir(), 'shell-adapter-dashboard-'));
    const file = join(this.#directory, 'open.html');
    writeFileSync(file, redirectTo(target), { mode: 0o600, flag: 'wx' });
    this.url = pathToFileURL(file).href;
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Opens an address by the first of these programs that can; returns false when none can. */
async function openBrowser(url: string, commands: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  for (const command of commands) if (await launch(url, command, env)) return true;
  return false;
}

/** Starts a program, and waits shortly whether it fails: some run as long as the browser does. */
function launch(url: string, command: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const words = command.trim().split(/\s+/);
  const [program = '', ...args] = words.some((word) => word.includes('%s'))
    ? words.map((word) => word.replaceAll('%s', url))
    : [...words, url];
  const child = spawn(program, args, { env, stdio: 'ignore', detached: true });
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(true);
    }, LAUNCH_MS);
    const settle = (hasStarted: boolean) => {
      clearTimeout(timer);
      resolve(hasStarted);
    };
    child.once('error', () => {
      settle(false);
    });
    child.once('exit', (code) => {
      settle(code === 0);
    });
    child.unref();
  });
}

function redirectTo(target: string): string {
  const escaped = target.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${escaped}">
<title>shell-adapter</title>
<p><a href="${escaped}">Open the dashboard</a></p>
`;
}

/** Exit codes of signals begin above this, as those of shells do. */
const SIGNAL_EXIT_BASE = 128;

/** What the page may do, and how it is opened. */
interface WantedPage extends DaemonOptions {
  readonly role?: Role;
  readonly for: string;
  readonly print?: boolean;
}

/**
 * Opens the dashboard in a browser, or prints its link.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function openDashboard(context: Context, options: WantedPage): Promise<void> {
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
