import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import type { Log } from '../core/log.js';
import { isProcess } from '../engine/platform/choose-platform.js';
import { sendSignal } from '../engine/system/signals.js';
import type { ClusterPort, NodesPort } from '../services/cluster-port.js';

import type { HolderDirectory, HolderRecord } from './holder-directory.js';

/** Time for a holder to start, in milliseconds: a busy machine needs less. */
const START_MS = 30_000;
/** Longest output of a holder that is kept for an error message, in characters. */
const MAX_OUTPUT = 4000;
/** Variables by which a service manager talks to the daemon alone. */
const OF_THE_SERVICE = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID', 'LISTEN_FDS', 'LISTEN_PID'];

/** What a holder sends to the process that has started it, once it listens. */
const holderReady = z.object({ ready: z.literal(true) });

export interface HolderCommand {
  /** Node.js's own arguments, the program, and its arguments. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Starts a holder, which outlives this process, and waits until it listens.
 * @param more its further arguments
 * @throws Error with what it has printed when it does not start
 */
async function startHolder({ args, cwd, env }: HolderCommand, more: readonly string[]): Promise<ChildProcess> {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !OF_THE_SERVICE.includes(name)));
  const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const;
  const child = spawn(process.execPath, [...args, ...more], { cwd, env: own, detached: true, stdio: [...stdio] });
  let output = '';
  const take = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-MAX_OUTPUT);
  };
  child.stderr?.on('data', take);
  try {
    await readiness(child);
  } catch (error) {
    child.kill('SIGKILL');
    const said = output === '' ? '' : `; it said: ${output.trim()}`;
    throw new Error(`the process that holds sessions could not be started: ${(error as Error).message}${said}`);
  } finally {
    if (child.connected) child.disconnect();
    // What it prints from here on is in its log.
    child.stderr?.destroy();
    child.unref();
  }
  return child;
}

/** Resolves when the holder listens; rejects when it ends first, or takes too long. */
function readiness(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`it has not been ready within ${START_MS / 1000} s`));
    }, START_MS);
    const settle = (act: () => void) => () => {
      clearTimeout(timer);
      act();
    };
    child.once('error', (error) => {
      settle(() => {
        reject(error);
      })();
    });
    child.once('close', (code, signal) => {
      settle(() => {
        reject(new Error(`it has ended with ${code ?? signal ?? 'nothing'}`));
      })();
    });
    child.on('message', (message) => {
      if (holderReady.safeParse(message).success) settle(resolve)();
    });
  });
}

/** How often the holders are looked at, in milliseconds. */
const LOOK_MS = 250;
/** First and longest pause before a holder is started again, in milliseconds. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/** Time for the metrics of a holder, in milliseconds. */
const METRICS_MS = 1000;

interface HoldersOptions {
  readonly directory: HolderDirectory;
  readonly command: HolderCommand;
  /** See `fingerprintOf`: of a holder as this daemon would start it. */
  readonly fingerprint: () => string;
  readonly nodes: NodesPort;
  readonly log: Log;
}

/**
 * The processes that hold the sessions of this daemon. One of them takes what is new. Those of an earlier version or
 * configuration keep what they have, take nothing new, and end when they have nothing left.
 */
export class Holders implements AsyncDisposable {
  readonly #options: HoldersOptions;
  readonly #ended = new AbortController();
  readonly #known = new Map<string, HolderRecord>();
  #current: string | undefined;
  #watching: Promise<void> | undefined;

  constructor(options: HoldersOptions) {
    this.#options = options;
  }

  /**
   * Finds the holders that run, and starts one if none of them fits.
   * @throws Error when none can be started
   */
  async start(): Promise<void> {
    const { directory, fingerprint, log } = this.#options;
    const living = directory.living();
    await Promise.all(living.map((holder) => this.#adopt(holder)));
    const fitting = living.find((holder) => holder.fingerprint === fingerprint() && this.#isConnected(holder.name));
    for (const { name } of living) if (name !== fitting?.name) await this.#retire(name);
    if (living.length > 0) log.info('sessions have outlived the daemon before', { holders: living.map(nameOf) });
    if (fitting) this.#current = fitting.name;
    else await this.#startOne();
    // What can change while it runs may have changed.
    this.reload();
    this.#watching = this.#watch();
  }

  reload(): void {
    for (const { pid, identity } of this.#known.values()) if (isProcess(pid, identity)) sendSignal(pid, 'SIGHUP');
  }

  /** What the holders measure, as Prometheus reads it. One that does not answer is left out. */
  async readMetrics(): Promise<readonly string[]> {
    const texts = await Promise.all([...this.#known.values()].map(({ url }) => fetchMetrics(url)));
    return texts.filter((text) => text !== undefined);
  }

  /** Stops looking after the holders, which go on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#watching;
  }

  async #startOne(): Promise<void> {
    const { directory, command, log } = this.#options;
    const name = directory.freeName();
    const { pid } = await startHolder(command, ['--hold-in', directory.path, '--hold-as', name]);
    const holder = directory.living().find((found) => found.name === name);
    if (!holder) throw new Error(`the process ${pid} that holds sessions has not noted itself in ${directory.path}`);
    await this.#adopt(holder);
    this.#current = name;
    log.info('a process was started that holds sessions', { name, pid });
  }

  async #adopt(holder: HolderRecord): Promise<void> {
    this.#known.set(holder.name, holder);
    await this.#options.nodes.register({ node: holder.name, url: holder.url });
  }

  async #retire(name: string): Promise<void> {
    try {
      await this.#options.nodes.drain({ node: name, drain: true });
    } catch (error) {
      // It has ended meanwhile, or is too busy to answer: it is tried again.
      this.#options.log.warn('a process that holds sessions could not be told to take nothing new', {
        name,
        why: (error as Error).message,
      });
    }
  }

  #isConnected(name: string): boolean {
    return this.#options.nodes.list().nodes.some(({ node, state }) => node === name && state === 'live');
  }

  /** Removes the holders that have ended, and starts another one for the one that takes what is new. */
  async #watch(): Promise<void> {
    const { signal } = this.#ended;
    for (let failures = 0; !signal.aborted;) {
      await this.#removeEnded();
      await this.#retireOthers();
      failures = this.#current !== undefined || (await this.#replace()) ? 0 : failures + 1;
      const pauseMs = failures === 0 ? LOOK_MS : pauseAfter(failures);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #replace(): Promise<boolean> {
    try {
      await this.#startOne();
      return true;
    } catch (error) {
      this.#options.log.error('no new sessions can be opened', { why: (error as Error).message });
      return false;
    }
  }

  async #removeEnded(): Promise<void> {
    for (const { name, pid, identity } of this.#known.values()) {
      if (isProcess(pid, identity)) continue;
      this.#known.delete(name);
      this.#options.directory.remove(name);
      await this.#options.nodes.remove({ node: name });
      if (name !== this.#current) continue;
      this.#current = undefined;
      this.#options.log.error('the process that holds sessions has ended; its sessions are lost', { name, pid });
    }
  }

  /** Repeats what `#retire` has not achieved. */
  async #retireOthers(): Promise<void> {
    for (const { node, role, state } of this.#options.nodes.list().nodes)
      if (role === 'worker' && state === 'live' && node !== this.#current) await this.#retire(node);
  }
}

async function fetchMetrics(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(new URL('/metrics', url), { signal: AbortSignal.timeout(METRICS_MS) });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    // It has ended, or is too busy.
    return undefined;
  }
}

const pauseAfter = (failures: number): number => Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS);

const nameOf = ({ name }: HolderRecord): string => name;

/** How often a holder looks whether it is still needed, in milliseconds. */
const NEED_LOOK_MS = 100;
/** How long a holder with nothing to hold waits for a daemon, in milliseconds. */
const PATIENCE_MS = 2000;
/** The same when results may be asked for again, whose daemon has ended first: as long as clients try. */
const PATIENCE_WITH_RESULTS_MS = 30_000;

interface HolderLifeOptions {
  readonly directory: HolderDirectory;
  readonly record: HolderRecord;
  readonly cluster: ClusterPort;
  readonly isRunning: () => boolean;
  readonly daemons: () => number;
  readonly end: () => void;
}

/**
 * The life of a process that holds sessions: it notes where it is reached, and ends when nothing runs in it and either
 * no daemon is connected or the daemon has another one for what is new.
 */
export class HolderLife implements Disposable {
  readonly #options: HolderLifeOptions;
  readonly #timer: NodeJS.Timeout;
  #neededAt = performance.now();
  #patienceMs = PATIENCE_MS;

  constructor(options: HolderLifeOptions) {
    this.#options = options;
    options.directory.write(options.record);
    this.#timer = setInterval(this.#look, NEED_LOOK_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    const { directory, record } = this.#options;
    directory.remove(record.name);
  }

  readonly #look = (): void => {
    const { cluster, isRunning, daemons, end } = this.#options;
    const now = performance.now();
    const isRetired = cluster.load().is_draining;
    if (daemons() === 0 && isRunning()) this.#patienceMs = PATIENCE_WITH_RESULTS_MS;
    if (!cluster.isIdle || (daemons() > 0 && !isRetired)) this.#neededAt = now;
    if (now - this.#neededAt < this.#patienceMs) return;
    // Before the end, so that no daemon takes it for one that stays.
    this[Symbol.dispose]();
    end();
  };
}
