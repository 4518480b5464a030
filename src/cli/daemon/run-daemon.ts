import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type App, type AppDashboard, type AppOptions, startApp } from '../../app/app.js';
import { type Detached, detach } from '../../app/detach/detach.js';
import { HolderDirectory } from '../../app/detach/holder-directory.js';
import type { Configuration } from '../../config/model/configuration.js';
import { loadConfiguration } from '../../config/read/load.js';
import { ConfigurationError } from '../../config/model/problems.js';
import type { Log } from '../../core/logging/log.js';
import { SecretMask } from '../../core/secrets/secret-mask.js';
import { createLogging, type Logging } from '../../logging/logging.js';
import { findConfiguration } from '../connect/configuration-file.js';
import type { Context } from '../console/context.js';
import { EXIT } from '../console/failure.js';
import { ServiceManager } from './service-manager.js';
import { explainStartFailure } from './start-failure.js';
import { StopSignals } from './stop-signals.js';

/** Options of `serve`. */
export interface ServeOptions {
  readonly config?: string;
  /** Overrides `adapter.workspace_directory`; relative to the current directory. */
  readonly workspace?: string;
  readonly host?: string;
  readonly port?: number;
  /** Whether to print an example command, and a link to the dashboard. Default: only on a terminal. */
  readonly example?: boolean;
  /** Directory of the holders, for a process that holds sessions. */
  readonly holdIn?: string;
  /** Name of that process. */
  readonly holdAs?: string;
}

/** Waits for processes that others have left behind, and passes signals on. It is part of the package. */
const INIT = fileURLToPath(new URL('../../../scripts/init', import.meta.url));

/** Path of this program's main module. */
const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));

const FIRST_PROCESS =
  'the daemon is the first process of its container: what commands leave behind stays as zombies. Start it by ' +
  `${INIT}, or give the container an init (tini, docker run --init)`;

/** Time-out for flushing the log at the end, in milliseconds. */
const LOG_FLUSH_MS = 300;

/**
 * Runs the daemon until a signal ends it.
 * @throws an error with a remedy when it cannot be started
 */
export async function runDaemon(context: Context, options: ServeOptions): Promise<void> {
  const stop = new StopSignals(context);
  const first = loadFor(context, options);
  using detached = detachedAs(first, context, options);
  const load = () => detached.configure(loadFor(context, options));
  const configuration = detached.configure(first);
  const { detachment } = detached;
  const secrets = new SecretMask(configuration.secrets);
  const isHolder = detachment?.as === 'holder';
  const logging = createLogging(configuration.logging, { console: !isHolder, mask: secrets.text });
  const log = logging.component();
  let app: App | undefined;
  // Installed early: without a listener the signal would end the process.
  context.onSignal(['SIGHUP'], () => {
    if (app) reload(app, logging, load);
  });
  try {
    const log = (name: string) => logging.component(name);
    app = await start(context, stop, { configuration, secrets, log, detachment });
  } catch (error) {
    await within(LOG_FLUSH_MS, logging.close());
    throw await explainStartFailure(error, configuration);
  }
  goOnAfterFaults(context, app, log);
  const manager = new ServiceManager(context.env, log);
  if (app) {
    prepareStop(app, stop, log);
    await announce(context, { app, configuration, log }, options);
    await manager.ready(app.url);
  }
  const signal = await stop.requested;
  log.info('the daemon is stopping', { signal });
  const told = manager.stopping();
  const hasEnded = app !== undefined && (await end(app, signal, stop, log));
  await told;
  await within(LOG_FLUSH_MS, logging.close());
  context.exitWith(hasEnded ? EXIT.ok : EXIT.failed);
}

/** What this process is: its options say whether it holds sessions, the configuration whether it has them held. */
function detachedAs(configuration: Configuration, { env, cwd }: Context, options: ServeOptions): Detached {
  const { config, workspace, holdIn, holdAs } = options;
  const flags = { config, workspace };
  const given = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  const command = { args: [...process.execArgv, MAIN, 'serve', '--no-example', ...given], cwd, env };
  const end = () => process.kill(process.pid, 'SIGTERM');
  const isHolder = holdIn !== undefined && holdAs !== undefined;
  const holder = isHolder ? { directory: new HolderDirectory(holdIn), name: holdAs, end } : undefined;
  return detach(configuration, { holder, command });
}

function goOnAfterFaults(context: Context, app: App | undefined, log: Log): void {
  context.onFault((error) => {
    app?.countUncaught();
    log.error('an uncaught error; the daemon goes on', { error: textOf(error) });
  });
}

function prepareStop({ killAll, drain }: App, stop: StopSignals, log: Log): void {
  stop.onAbandon = killAll;
  if (!drain) return;
  stop.onDrain = async () => {
    log.info('the node is being drained; another SIGTERM stops it at once');
    await drain('SIGTERM').catch((error: unknown) => {
      log.error('the node could not be drained', { error: textOf(error) });
    });
  };
}

function loadFor(context: Context, { config, workspace, host, port }: ServeOptions): Configuration {
  const adapter = workspace === undefined ? {} : { workspace_directory: resolve(context.cwd, workspace) };
  return loadConfiguration({ ...findConfiguration(context, config), overrides: { adapter, socketio: { host, port } } });
}

/** Starts the daemon; returns undefined when a stop signal arrived and the start has not completed in time. */
async function start(
  context: Context,
  stop: StopSignals,
  options: Omit<AppOptions, 'version'>,
): Promise<App | undefined> {
  const { promise: fault, reject } = withRejection();
  // While the daemon starts, an uncaught error aborts the start.
  const faults = context.onFault(reject);
  try {
    const started = startApp({ ...options, version: context.version });
    return await Promise.race([started, fault, stop.deadline]);
  } finally {
    faults[Symbol.dispose]();
  }
}

/** A daemon that listens. */
interface ListeningDaemon {
  readonly app: App;
  readonly configuration: Configuration;
  readonly log: Log;
}

async function announce(
  { stdout, programName, cwd }: Context,
  { app, configuration, log }: ListeningDaemon,
  { example = stdout.isTerminal }: ServeOptions,
): Promise<void> {
  // As PID 1 it inherits orphans, but Node.js waits only for its own children.
  if (process.pid === 1) log.warn(FIRST_PROCESS);
  log.info('the daemon listens', { url: app.url, configuration: configuration.file ?? 'none', directory: cwd });
  await stdout.write(`listening on ${app.url}\n`);
  if (!example) return;
  await stdout.write(`try: ${programName} exec --url ${app.url} 'echo hello'\n`);
  if (app.dashboard) await stdout.write(`dashboard: ${describeDashboard(app.dashboard)}\n`);
}

/** The link is printed on standard output alone: it must not get into the log file. */
const describeDashboard = ({ url, createLink }: AppDashboard): string =>
  createLink ? `${createLink()} (counts once, for 10 minutes)` : url;

function reload(app: App, logging: Logging, load: () => Configuration): void {
  const log = logging.component();
  try {
    const configuration = load();
    const waiting = app.reconfigure(configuration);
    logging.reconfigure(configuration.logging);
    log.info('the configuration was read again', { file: configuration.file ?? 'none' });
    if (waiting.length > 0) log.warn('some changes wait for the next start of the daemon', { settings: waiting });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    log.error('the configuration was read again and has errors; the old one stays', { why: error.message });
  }
}

/** Stops the daemon; returns false when that did not complete in time. */
async function end(app: App, signal: NodeJS.Signals, stop: StopSignals, log: Log): Promise<boolean> {
  try {
    const closed = app.close(signal).then(() => true);
    const isClosed = await Promise.race([closed, stop.deadline]);
    if (isClosed) log.info('the daemon has stopped');
    else log.error('the daemon could not end in time and leaves; what it leaves behind is removed at the next start');
    return isClosed ?? false;
  } catch (error) {
    log.error('the daemon could not end cleanly', { error: textOf(error) });
    return false;
  }
}

async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

function withRejection(): { readonly promise: Promise<never>; readonly reject: (error: unknown) => void } {
  let reject!: (error: unknown) => void;
  const promise = new Promise<never>((_resolve, rejectPromise) => {
    reject = rejectPromise;
  });
  // A rejection after the race has settled must not be an unhandled rejection.
  promise.catch(() => undefined);
  return { promise, reject };
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
