import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { eventually, MIB } from '../../support/measure.js';
import { residentBytes, taggedProcesses } from '../../support/processes.js';
import { seededRandom } from '../../support/seeded-random.js';
import { WireClient } from '../../support/wire.js';
import type { ClientOptions } from './clients/client-options.js';
import { runOneShots } from './clients/one-shots.js';
import { useSessions } from './clients/sessions.js';
import { followStreams } from './clients/streams.js';
import { Counts } from './counts.js';
import { type Disturbance, disturbGateways, disturbWorkers } from './disturbances.js';
import { Ledger } from './ledger.js';
import { ChaosNodes, type ClientRole } from './nodes.js';

/** How often the ledger is looked at, in milliseconds. */
const LOOK_MS = 5000;
/** Time for all nodes to find each other again, in milliseconds. */
const HEALED_MS = 30_000;
/** How long after its answer a command that was sent before may still reach a worker, by way of a frozen node, in milliseconds. */
const AFTERMATH_MS = 10_000;
/** Disturbances that are told with a failure. */
const TOLD = 12;
/** Most failures before a run ends. */
const MOST_FAILURES = 10;

/** What a run is. */
interface ChaosOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Of those that take clients. */
  readonly role: ClientRole;
  /** Whether eight clients work instead of five: the nodes are disturbed as often. */
  readonly isBusy: boolean;
}

/** What a run has done and found. */
export interface ChaosReport {
  readonly minutes: number;
  readonly seed: number;
  readonly counts: readonly (readonly [string, number])[];
  /** Largest memory of all nodes together, in MiB. */
  readonly mostMib: number;
  /** What the model does not allow, each with what was done before. */
  readonly failures: readonly string[];
}

/** Has clients work while nodes are frozen, killed and cut off, and compares what they were told with what has happened. */
export async function runChaos(
  { minutes, seed, role, isBusy }: ChaosOptions,
  onLook: (line: string) => void,
): Promise<ChaosReport> {
  await using nodes = await ChaosNodes.start(role);
  const run = new ChaosRun(nodes, seed, isBusy);
  await run.work(minutes * 60_000, onLook);
  await run.end();
  return { minutes, seed, ...run.report };
}

class ChaosRun {
  readonly #nodes: ChaosNodes;
  readonly #seed: number;
  readonly #isBusy: boolean;
  readonly #ledger: Ledger;
  readonly #counts = new Counts();
  readonly #startedAt = performance.now();
  readonly #disturbances: Disturbance[] = [];
  readonly #failures: string[] = [];
  readonly #different = new Set<string>();
  #mostMib = 0;

  constructor(nodes: ChaosNodes, seed: number, isBusy: boolean) {
    this.#nodes = nodes;
    this.#seed = seed;
    this.#isBusy = isBusy;
    this.#ledger = new Ledger(join(nodes.cluster.directory, 'runs'));
    writeFileSync(this.#ledger.file, '');
  }

  get report(): Pick<ChaosReport, 'counts' | 'mostMib' | 'failures'> {
    return { counts: this.#counts.entries(), mostMib: Math.round(this.#mostMib), failures: this.#failures };
  }

  /** Works for a time, or until too much has failed. */
  async work(ms: number, onLook: (line: string) => void): Promise<void> {
    await this.#awaitWhole();
    const token = await this.#makeToken();
    const stop = new AbortController();
    const { signal } = stop;
    const working = [
      ...this.#clients(token, signal),
      ...[disturbWorkers, disturbGateways].map((disturb, lane) => {
        const note = (text: string) =>
          this.#disturbances.push({ at: performance.now(), text: `${'AB'[lane]!}, ${text}` });
        return disturb({ nodes: this.#nodes, random: this.#randomOf(lane), signal, note });
      }),
    ];
    const done = Promise.all(working).finally(() => {
      stop.abort();
    });
    let told = 0;
    try {
      while (!signal.aborted && performance.now() - this.#startedAt < ms && this.#failures.length < MOST_FAILURES) {
        await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
        this.#look();
        for (const failure of this.#failures.slice(told)) onLook(failure);
        told = this.#failures.length;
        onLook(this.#line());
      }
    } finally {
      stop.abort();
    }
    await done;
  }

  /** Compares all, once the nodes have found each other again. */
  async end(): Promise<void> {
    await this.#awaitWhole().catch((error: unknown) => {
      this.#fail(`the cluster is not whole again: ${(error as Error).message}`);
    });
    this.#look();
    await Promise.all([...this.#nodes.gateways, ...this.#nodes.workers].map(({ daemon }) => daemon.stop()));
    await eventually(() => {
      const left = [...this.#nodes.instances].flatMap(taggedProcesses);
      if (left.length > 0) throw new Error(left.map(({ pid, command }) => `${pid} ${command}`).join(', '));
    }).catch((error: unknown) => {
      this.#fail(`left behind: ${(error as Error).message}`);
    });
  }

  /** Makes the token of the clients, and waits until it counts at all gateways. */
  async #makeToken(): Promise<string> {
    const { gateways } = this.#nodes;
    const token = gateways[0]!.daemon.createToken('agent', 'chaos');
    for (const { daemon } of gateways)
      await eventually(async () => {
        await using client = await WireClient.connect(daemon.url, ['websocket'], { token });
        await client.request('describe_access');
      });
    return token;
  }

  #clients(token: string, signal: AbortSignal): Promise<void>[] {
    const few = [runOneShots, runOneShots, useSessions, useSessions, followStreams];
    const kinds = this.#isBusy ? [...few, runOneShots, useSessions, followStreams] : few;
    return kinds.map((kind, index) => {
      const name = `client-${index}`;
      const options: ClientOptions = {
        name,
        nodes: this.#nodes,
        ledger: this.#ledger,
        counts: this.#counts,
        token,
        random: this.#randomOf(10 + index),
        signal,
        fail: (what) => {
          this.#fail(`${name}: ${what}`);
        },
      };
      return kind(options);
    });
  }

  readonly #randomOf = (stream: number): (() => number) => seededRandom(this.#seed * 1000 + stream);

  /** Both gateways know all workers, and Redis all nodes. */
  async #awaitWhole(): Promise<void> {
    const { gateways, workers, cluster } = this.#nodes;
    for (const gateway of gateways) {
      await using admin = await cluster.connect(gateway.daemon, 'admin', `admin-${randomBytes(4).toString('hex')}`);
      await eventually(async () => {
        const { nodes } = await admin.request('list_nodes');
        const live = nodes.filter(({ role, state }) => role === 'worker' && state === 'live').map(({ node }) => node);
        if (live.length < workers.length) throw new Error(`${gateway.name} has only ${live.join(', ')}`);
        if ((await fetch(`${gateway.daemon.url}/readyz`)).status !== 200)
          throw new Error(`${gateway.name} is not ready`);
      }, HEALED_MS);
    }
  }

  #look(): void {
    for (const { id, outcome, runs, from, to } of this.#ledger.differences()) {
      if (this.#different.has(id)) continue;
      this.#different.add(id);
      // Without the claims that Redis keeps, a command without a session is placed where each gateway sees fit.
      if (runs > 1 && this.#nodes.lackedRedis(from, to + AFTERMATH_MS))
        this.#counts.add('ran twice while Redis had no claims');
      else this.#fail(`${id} has run ${runs} times, its client was told: ${outcome}`);
    }
    const running = [...this.#nodes.gateways, ...this.#nodes.workers].flatMap(({ daemon }) => {
      try {
        return [residentBytes(daemon.pid)];
      } catch {
        // It was killed.
        return [];
      }
    });
    this.#mostMib = Math.max(this.#mostMib, running.reduce((sum, bytes) => sum + bytes, 0) / MIB);
  }

  #fail(what: string): void {
    const before = this.#disturbances.slice(-TOLD).map(({ at, text }) => `    ${this.#seconds(at)} ${text}`);
    this.#failures.push([`seed ${this.#seed}, ${this.#seconds(performance.now())}: ${what}`, ...before].join('\n'));
  }

  #line(): string {
    const { once, never, unknown } = this.#ledger.counts;
    const last = this.#disturbances.at(-1)?.text ?? '';
    return `${this.#seconds(performance.now())}  ${once} ran, ${never} did not, ${unknown} unknown  ${this.#failures.length} failures  ${last}`;
  }

  readonly #seconds = (at: number): string => `${((at - this.#startedAt) / 1000).toFixed(1).padStart(6)} s`;
}
