import { execFile } from 'node:child_process';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { type App, type AppDashboard, type AppOptions, startApp } from '../../app/app.js';
import { detach, type Detached } from '../../app/detach.js';
import { HolderDirectory } from '../../cluster/holder-directory.js';
import type { Configuration } from '../../config/model/configuration.js';
import { ConfigurationError } from '../../config/model/problems.js';
import { loadConfiguration } from '../../config/read/load.js';
import { SHIPPED_FILE } from '../../config/read/locate.js';
import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { SecretMask } from '../../core/secrets.js';
import { settledWithin } from '../../core/time.js';
import { Deferred } from '../../engine/system/promises.js';
import { createLogging, type Logging } from '../../logging/logging.js';
import { findConfiguration } from '../connect/configuration.js';
import { urlOf } from '../connect/daemon-address.js';
import { probeDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { CommandLineError, EXIT, messageOf } from '../console/failure.js';
import { MAIN } from './start-daemon.js';

const run = promisify(execFile);

/** Time-out of a message, in milliseconds: it takes about 5. */
const MESSAGE_MS = 2000;

/**
 * Tells systemd, if it has started the daemon with `Type=notify`, that the daemon is ready, alive, and stopping. Node.js
 * has no datagram sockets of Unix: systemd-notify(1) sends the messages, for which the unit needs `NotifyAccess=all`.
 * Source: sd_notify(3), sd_watchdog_enabled(3).
 */
class ServiceManager implements Disposable {
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: Log;
  #watchdog: NodeJS.Timeout | undefined;

  constructor(env: NodeJS.ProcessEnv, log: Log) {
    this.#env = env;
    this.#log = log;
  }

  /** Says that the daemon takes requests, and repeats that it is alive if the unit has a watchdog. */
  async ready(url: string): Promise<void> {
    await this.#tell('READY=1', `STATUS=listening on ${url}`);
    const intervalMs = watchdogIntervalMs(this.#env);
    if (intervalMs === undefined) return;
    this.#watchdog = setInterval(() => void this.#tell('WATCHDOG=1'), intervalMs);
    this.#watchdog.unref();
  }

  /** Says that the daemon ends. Never rejects. */
  async stopping(): Promise<void> {
    this[Symbol.dispose]();
    await this.#tell('STOPPING=1', 'STATUS=ending all commands and sessions');
  }

  [Symbol.dispose](): void {
    clearInterval(this.#watchdog);
  }

  async #tell(...message: readonly string[]): Promise<void> {
    const { NOTIFY_SOCKET: socket, PATH: path } = this.#env;
    if (!socket) return;
    try {
      await run('systemd-notify', [...message], { env: { NOTIFY_SOCKET: socket, PATH: path }, timeout: MESSAGE_MS });
    } catch (error) {
      // The program is missing, or the socket is not there.
      const [what] = message;
      this.#log.warn('systemd could not be told; with Type=notify it ends the daemon: install systemd-notify', {
        message: what,
        error: (error as Error).message.trim(),
      });
    }
  }
}

/**
 * The interval of the messages that the daemon is alive, in milliseconds: half of what the unit allows. Undefined without
 * a watchdog, or when it watches another process.
 */
function watchdogIntervalMs({ WATCHDOG_USEC: usec, WATCHDOG_PID: pid }: NodeJS.ProcessEnv): number | undefined {
  const limitMs = Number(usec ?? 0) / 1000;
  const isOwn = pid === undefined || pid === String(process.pid);
  return isOwn && limitMs > 0 ? limitMs / 2 : undefined;
}

/** Explains why the daemon could not start, with a remedy. */
async function explainStartFailure(error: unknown, { socketio, file }: Configuration): Promise<unknown> {
  if (error instanceof ConfigurationError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const elsewhere = `Take another port with --port (0 for any that is free), or socketio.port in ${fileToEdit(file)}.`;
  const fail: Fail = (text, hint) => new CommandLineError(text, { hint, cause: error });
  switch (code) {
    case 'EADDRINUSE':
      return explainAddressInUse(error as { readonly address?: string }, socketio, elsewhere, fail);
    case 'EACCES':
      return fail(message, socketio.port < 1024 ? `Ports below 1024 are root's. ${elsewhere}` : undefined);
    case 'EADDRNOTAVAIL':
      return fail(`${socketio.host} is not an address of this machine`, 'Set socketio.host, or --host, to 127.0.0.1.');
    case 'RESOURCE_EXHAUSTED':
      // The audit log may be locked by a daemon with the same configuration.
      return (await findDaemon(socketio, elsewhere, fail)) ?? fail(`${message} (${code})`, SEARCH);
    case 'SHELL_NOT_FOUND':
      return fail(
        message,
        'Install it, or set adapter.shell to another one. `shell-adapter doctor` lists what is there.',
      );
    default:
      return fail(describe(error), SEARCH);
  }
}

/** Changes of the shipped file are lost with the next installation. */
const fileToEdit = (file: string | undefined): string =>
  file === undefined || file === SHIPPED_FILE ? 'a file of your own (`shell-adapter config init` writes it)' : file;

/** A failure without a known remedy. */
const describe = (error: unknown): string =>
  error instanceof AdapterError
    ? `${error.message} (${error.code})`
    : `the daemon could not start: ${messageOf(error as Error)}`;

/** Hint for failures without a known remedy. */
const SEARCH = '`shell-adapter doctor` looks for the cause.';

type Fail = (text: string, hint?: string) => CommandLineError;
type Address = Configuration['socketio'];

/** The failure when a daemon listens on the address already; undefined when none answers there. */
async function findDaemon(socketio: Address, elsewhere: string, fail: Fail): Promise<CommandLineError | undefined> {
  const url = urlOf(socketio) ?? '';
  if (!(await probeDaemon(url))) return undefined;
  const hint = `Use that one (${url}), or stop it first. ${elsewhere}`;
  return fail(`a shell-adapter daemon listens on ${socketio.host}:${socketio.port} already`, hint);
}

async function explainAddressInUse(
  { address }: { readonly address?: string },
  socketio: Address,
  elsewhere: string,
  fail: Fail,
): Promise<CommandLineError> {
  const { unixSocket = '', host, port } = socketio;
  if (address === socketio.unixSocket) {
    const hint = `Use that one (unix:${unixSocket}), or take another path for socketio.unix_socket.`;
    return fail(`another daemon listens on ${unixSocket} already`, hint);
  }
  const there = await findDaemon(socketio, elsewhere, fail);
  if (there) return there;
  const who = `See which program that is: ss -ltnp 'sport = :${port}'`;
  return fail(`port ${host}:${port} is taken by another program`, `${who}\n${elsewhere}`);
}

/** Time limit of the shutdown: half a second less than the 5 s that the documentation gives for supervisors. */
const DEADLINE_MS = 4500;
/** npm forwards the Ctrl-C that the terminal has already sent: one key press arrives as two signals. */
const SAME_KEY_PRESS_MS = 250;
const SIGNAL_EXIT_BASE = 128;

/**
 * Signals that end the daemon: the first starts a shutdown, the second ends the process at once. Of a worker, the first
 * SIGTERM drains it, and the shutdown follows when that is done, or with the next signal.
 */
class StopSignals {
  /** Resolves with the first signal. */
  readonly requested: Promise<NodeJS.Signals>;
  /** Resolves when the time limit after the first signal has passed. */
  readonly deadline: Promise<undefined>;
  #abandon: () => void = () => undefined;
  #drain: (() => Promise<void>) | undefined;

  constructor(context: Context) {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
    this.requested = new Promise((resolve) => {
      const begin = (signal: NodeJS.Signals) => {
        first ??= { signal, at: performance.now() };
        resolve(first.signal);
      };
      context.onSignal(['SIGTERM', 'SIGINT'], (signal) => {
        const at = performance.now();
        const drain = this.#drain;
        this.#drain = undefined;
        if (!first && drain && signal === 'SIGTERM') {
          void drain().finally(() => {
            begin(signal);
          });
          return;
        }
        if (!first) {
          begin(signal);
          return;
        }
        const isSamePress = signal === 'SIGINT' && first.signal === 'SIGINT' && at - first.at < SAME_KEY_PRESS_MS;
        if (isSamePress) return;
        this.#abandon();
        context.exitNow(SIGNAL_EXIT_BASE + constants.signals[signal]);
      });
    });
    this.deadline = this.requested.then(
      () =>
        new Promise((resolve) => {
          setTimeout(resolve, DEADLINE_MS, undefined);
        }),
    );
  }

  /** What the first SIGTERM begins, and the shutdown waits for; it does not reject. */
  set onDrain(drain: () => Promise<void>) {
    this.#drain = drain;
  }

  /** Callback of the second signal, before the process exits; it must not wait for anything. */
  set onAbandon(abandon: () => void) {
    this.#abandon = abandon;
  }
}

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
    await settledWithin(logging.close(), LOG_FLUSH_MS);
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
  await settledWithin(logging.close(), LOG_FLUSH_MS);
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
  const fault = new Deferred<never>();
  // After the start it must not be an unhandled rejection.
  fault.promise.catch(() => undefined);
  // While the daemon starts, an uncaught error aborts the start.
  const faults = context.onFault(fault.reject);
  try {
    const started = startApp({ ...options, version: context.version });
    return await Promise.race([started, fault.promise, stop.deadline]);
  } finally {
    faults[Symbol.dispose]();
  }
}

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

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
