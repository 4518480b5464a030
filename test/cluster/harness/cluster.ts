import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Role } from '../../../src/core/principal.js';
import type { NodeInfo } from '../../../src/core/protocol/requests/nodes.js';
import { type DaemonOptions, type DaemonSettings, TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { CertificateAuthority, type NodeCertificate } from './certificates.js';

/** A worker of a test: a real daemon, and where gateways reach it. */
export interface TestWorker {
  readonly name: string;
  readonly daemon: TestDaemon;
  readonly url: string;
}

/** How a worker is started. */
interface WorkerStart extends Pick<DaemonOptions, 'env' | 'launcher' | 'command'> {
  /** Folder of a worker that has ended: the same state and workspace. The log is begun again. */
  readonly given?: string | undefined;
  /** Where gateways reach it. @default 127.0.0.1 */
  readonly address?: string;
}

/** Gateways and workers of a test: daemons of their own, with certificates and a secret of their own. */
export class TestCluster implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'shell-adapter-cluster-'));
  readonly authority = CertificateAuthority.ofClusters(this.directory);
  readonly secretFile = join(this.directory, 'secret');
  readonly #daemons = new Set<TestDaemon>();
  readonly #common: Record<string, unknown>;

  /** @param common settings of all its nodes, besides their certificates and the secret */
  constructor(common: Record<string, unknown> = {}) {
    this.#common = common;
    writeFileSync(this.secretFile, randomBytes(32).toString('hex'));
  }

  /**
   * Starts a gateway.
   * @param given folder of a gateway that has ended, as for a worker
   */
  async startGateway(
    name = 'gate',
    cluster: Record<string, unknown> = {},
    options: DaemonOptions = {},
    given?: string,
  ): Promise<TestDaemon> {
    const tls = this.authority.issue(name, 'serverAuth,clientAuth');
    const settings = { ...options.settings, cluster: this.#settings(name, 'gateway', tls, cluster) };
    return this.#start({ ...options, settings }, given);
  }

  /** Starts a worker. Its certificate can be used to be dialled only. */
  async startWorker(
    name: string,
    settings: DaemonSettings = {},
    { given, address = '127.0.0.1', ...options }: WorkerStart = {},
  ): Promise<TestWorker> {
    const tls = this.authority.issue(name, 'serverAuth', address);
    const own = { ...(address !== '127.0.0.1' && { link_host: address }), ...settings.cluster };
    const cluster = this.#settings(name, 'worker', tls, own);
    const daemon = await this.#start({ ...options, settings: { ...settings, cluster } }, given);
    return { name, daemon, url: `https://${address}:${await linkPortOf(daemon)}` };
  }

  /** Starts a node that takes clients and runs sessions. */
  async startNode(
    name: string,
    settings: DaemonSettings = {},
    options: Pick<DaemonOptions, 'env' | 'command'> = {},
  ): Promise<TestDaemon> {
    const tls = this.authority.issue(name, 'serverAuth,clientAuth');
    return this.#start({
      ...options,
      settings: { ...settings, cluster: this.#settings(name, 'node', tls, settings.cluster) },
    });
  }

  /** Starts a gateway with registered workers of these names. */
  async startWith(...names: readonly string[]): Promise<{ gateway: TestDaemon; workers: TestWorker[] }> {
    const [gateway, ...workers] = await Promise.all([
      this.startGateway(),
      ...names.map((name) => this.startWorker(name)),
    ]);
    for (const worker of workers) await this.register(gateway, worker);
    return { gateway, workers };
  }

  /** Registers a worker at a gateway; gives what the gateway says of it. */
  async register(
    gateway: TestDaemon,
    { name: node, url }: Pick<TestWorker, 'name' | 'url'>,
    labels?: Record<string, string>,
  ): Promise<NodeInfo> {
    await using admin = await this.connect(gateway, 'admin');
    const answer = await admin.request('register_node', { node, url, ...(labels && { labels }) });
    if (answer.error) throw new Error(`register_node: ${answer.error.message}`);
    return answer.node;
  }

  /** A client with a token of its own. */
  connect(
    gateway: TestDaemon,
    role: Role = 'agent',
    name = `${role}-${randomBytes(4).toString('hex')}`,
  ): Promise<WireClient> {
    return WireClient.connect(gateway.url, ['websocket'], { token: gateway.createToken(role, name) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#daemons].map((daemon) => daemon[Symbol.asyncDispose]()));
    rmSync(this.directory, { recursive: true, force: true });
  }

  #settings(name: string, role: string, tls: NodeCertificate, more: Record<string, unknown> = {}) {
    return { enabled: true, role, name, link_port: 0, tls, secret_file: this.secretFile, ...this.#common, ...more };
  }

  async #start(options: DaemonOptions, given?: string): Promise<TestDaemon> {
    if (given !== undefined) rmSync(join(given, 'log'), { force: true });
    const daemon = await TestDaemon.start(options, given);
    // The folder belongs to the daemon that was started last.
    for (const earlier of this.#daemons) if (earlier.directory === given) this.#daemons.delete(earlier);
    this.#daemons.add(daemon);
    return daemon;
  }
}

/** The port on which a worker listens for gateways: its log says so. */
const linkPortOf = (daemon: TestDaemon): Promise<number> =>
  eventually(() => {
    const [, port] =
      /listening for gateways.*?port[=":]+\s*(\d+)/.exec(readFileSync(join(daemon.directory, 'log'), 'utf8')) ?? [];
    if (port === undefined) throw new Error('the worker does not listen for gateways yet');
    return Number(port);
  });
