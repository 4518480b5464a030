import type { TestDaemon } from '../../support/daemon.js';
import { FlakyProxy } from '../../support/network/flaky-proxy.js';
import { instanceOf } from '../../support/processes.js';
import { TestCluster } from '../harness/cluster.js';
import { freePort, RedisServer } from '../harness/redis.js';

/** Short, so that much is lost and found again in a minute; in seconds. */
export const LEASE = 3;
/** Sessions whose client has gone end soon; longer than any client stays away, in seconds. */
const GRACE = 45;
const ADAPTER = { prewarm: { sessions: 0, one_shots: 1 }, reconnect_grace: GRACE };

/** Role of the nodes that take clients. */
export type ClientRole = 'gateway' | 'node';

type Launch = (given: string | undefined) => Promise<TestDaemon>;

/** A gateway or worker that is frozen, killed and started again; it keeps its folder. */
export class ChaosNode {
  readonly name: string;
  readonly #launch: Launch;
  readonly #onStart: (daemon: TestDaemon) => void;
  #daemon: TestDaemon | undefined;
  #directory: string | undefined;
  /** When something was last done to it, or ended; on the clock of `performance.now`. */
  #disturbedAt = -Infinity;
  #isDisturbed = false;

  /** @param launch starts the daemon, in the folder of the one before */
  constructor(name: string, launch: Launch, onStart: (daemon: TestDaemon) => void) {
    this.name = name;
    this.#launch = launch;
    this.#onStart = onStart;
  }

  /** The daemon that runs, or the last one. */
  get daemon(): TestDaemon {
    if (!this.#daemon) throw new Error(`${this.name} was not started`);
    return this.#daemon;
  }

  /** Has it go on, if it is frozen. */
  thaw(): void {
    this.#daemon?.signal('SIGCONT');
  }

  async start(): Promise<void> {
    this.#daemon = await this.#launch(this.#directory);
    this.#directory = this.#daemon.directory;
    this.#onStart(this.#daemon);
  }

  async kill(): Promise<void> {
    this.daemon.signal('SIGKILL');
    await this.daemon.exited;
  }

  /** Does something to it, and notes until when. */
  async disturb(act: () => Promise<void>): Promise<void> {
    this.#isDisturbed = true;
    try {
      await act();
    } finally {
      this.#isDisturbed = false;
      this.#disturbedAt = performance.now();
    }
  }

  /** Whether something was done to it after a time. */
  wasDisturbedAfter(time: number): boolean {
    return this.#isDisturbed || this.#disturbedAt >= time;
  }
}

/** The nodes of a run: Redis, two gateways, and three workers, of which two are reached by proxies that break links. */
export class ChaosNodes implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly redis: RedisServer;
  readonly gateways: readonly ChaosNode[];
  readonly workers: readonly ChaosNode[];
  /** In the link of a worker, by its name. */
  readonly proxies: ReadonlyMap<string, FlakyProxy>;
  /** Tags of the processes that daemons have started. */
  readonly instances: Set<string>;
  /** Times at which Redis did not answer, or was emptied; the last one may be open. */
  readonly outages: { readonly from: number; to: number }[] = [];

  private constructor(parts: Pick<ChaosNodes, 'cluster' | 'redis' | 'gateways' | 'workers' | 'proxies' | 'instances'>) {
    ({
      cluster: this.cluster,
      redis: this.redis,
      gateways: this.gateways,
      workers: this.workers,
      proxies: this.proxies,
      instances: this.instances,
    } = parts);
  }

  /** The node of this name, or with this `name-incarnation`. */
  find(node: string): ChaosNode | undefined {
    return [...this.gateways, ...this.workers].find(({ name }) => node.startsWith(name));
  }

  /**
   * Starts all of them.
   * @param role of those that take clients: nodes run sessions, too
   */
  static async start(role: ClientRole): Promise<ChaosNodes> {
    const redis = await RedisServer.start();
    const cluster = new TestCluster({ redis_url: redis.url, lease: LEASE });
    const proxies = new Map<string, FlakyProxy>();
    const instances = new Set<string>();
    const workers = await Promise.all(
      ['worker-1', 'worker-2', 'worker-3'].map(async (name, index) => {
        const port = await freePort();
        const link: Record<string, unknown> = { link_port: port, drain_timeout: 1 };
        if (index > 0) {
          const proxy = await FlakyProxy.start(`https://127.0.0.1:${port}`);
          proxies.set(name, proxy);
          link['link_url'] = proxy.url.replace('http:', 'https:');
        }
        const settings = { adapter: ADAPTER, cluster: link };
        const launch = async (given?: string) => (await cluster.startWorker(name, settings, { given })).daemon;
        return new ChaosNode(name, launch, ({ pid }) => instances.add(instanceOf(pid)));
      }),
    );
    const gateways = ['gate-1', 'gate-2'].map((name) => {
      const settings = { settings: { adapter: ADAPTER } };
      const launch = (given?: string) => cluster.startGateway(name, { role, drain_timeout: 1 }, settings, given);
      return new ChaosNode(name, launch, ({ pid }) => instances.add(instanceOf(pid)));
    });
    const nodes = new ChaosNodes({ cluster, redis, gateways, workers, proxies, instances });
    try {
      await Promise.all([...gateways, ...workers].map((node) => node.start()));
    } catch (error) {
      await nodes[Symbol.asyncDispose]();
      throw error;
    }
    return nodes;
  }

  /** Notes that Redis does not answer meanwhile, or loses what it has. */
  async withoutRedis(act: () => Promise<void>): Promise<void> {
    const outage = { from: performance.now(), to: Infinity };
    this.outages.push(outage);
    try {
      await act();
    } finally {
      outage.to = performance.now();
    }
  }

  /** Whether Redis was away, or was whole again for less than two leases, at some time between two. */
  lackedRedis(from: number, to: number): boolean {
    return this.outages.some((outage) => outage.from <= to && outage.to + 2 * LEASE * 1000 >= from);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.redis.signal('SIGCONT');
    // One that is stopped ends after it goes on.
    for (const node of [...this.gateways, ...this.workers]) node.thaw();
    await this.cluster[Symbol.asyncDispose]();
    await Promise.all([...this.proxies.values()].map((proxy) => proxy[Symbol.asyncDispose]()));
    await this.redis[Symbol.asyncDispose]();
  }
}
