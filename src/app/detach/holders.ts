import { setTimeout as sleep } from 'node:timers/promises';

import type { Log } from '../../core/log.js';
import { isProcess } from '../../engine/platform/choose-platform.js';
import { sendSignal } from '../../engine/system/signals.js';
import type { NodesPort } from '../../services/cluster-port.js';

import type { HolderDirectory, HolderRecord } from './holder-directory.js';
import { type HolderCommand, startHolder } from './start-holder.js';

/** How often the holders are looked at, in milliseconds. */
const LOOK_MS = 250;
/** First and longest pause before a holder is started again, in milliseconds. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/** Time for the metrics of a holder, in milliseconds. */
const METRICS_MS = 1000;

/** Dependencies of `Holders`. */
export interface HoldersOptions {
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

  /** Has all holders read the configuration again. */
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

  /** Has a holder take nothing new. */
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

  /** Starts the holder for what is new; returns whether that has succeeded. */
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
