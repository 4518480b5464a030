import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import { type DaemonOptions, type DaemonSettings, TestDaemon } from '../../support/daemon.js';
import { type ComposeFile, nodesOf } from '../../support/deploy/compose.js';
import type { Overlay } from '../../support/deploy/overlay.js';
import { RedisServer } from './redis.js';

const MAKE_SECRETS = fileURLToPath(new URL('../../../deploy/cluster/make-secrets', import.meta.url));
/** Where containers have what make-secrets makes. */
const MOUNTED = '/etc/shell-adapter/nodes';
/** Replicas of an overlay that are started. */
const REPLICAS = 2;

/** A node as a manifest configures it. */
export interface DeployedNode {
  readonly name: string;
  readonly role: string;
  /** Name of the file with the user of Redis. */
  readonly redisUser: string;
  readonly settings: DaemonSettings;
  readonly env: Readonly<Record<string, string>>;
}

/** The nodes of a compose file, configured by variables. */
export const nodesOfCompose = (file: ComposeFile): readonly DeployedNode[] =>
  nodesOf(file).map(([name, { environment = {}, env_file: users = '' }]) => ({
    name,
    role: environment['SHELL_ADAPTER_CLUSTER_ROLE'] ?? '',
    redisUser: users.replace(/^nodes\/(\w+)\.env$/, '$1'),
    settings: { confirmation: {} },
    env: environment,
  }));

/** Two nodes of each kind of an overlay, configured by its files. */
export const nodesOfOverlay = (overlay: Overlay): readonly DeployedNode[] =>
  overlay.configurations.flatMap((kind) => {
    const settings = parse(readFileSync(overlay.configurationFile(kind), 'utf8')) as DaemonSettings;
    const [, redisUser = ''] =
      new RegExp(`generic redis-${kind} --from-env-file=nodes/(\\w+)\\.env`).exec(overlay.header) ?? [];
    return Array.from({ length: REPLICAS }, (_, index) => ({
      name: `${kind}-${index}`,
      role: kind,
      redisUser,
      settings: { confirmation: {}, ...settings },
      env: { SHELL_ADAPTER_CLUSTER_NAME: `${kind}-${index}`, POD_NAME: `${kind}-${index}` },
    }));
  });

/**
 * Runs nodes as manifests configure them, on this machine. Other than there are only the addresses of Redis and of the nodes, their
 * ports, the folders of their state, and the one with what make-secrets has made.
 */
export class DeployedNodes implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'shell-adapter-deployed-'));
  readonly #nodes = new Map<string, TestDaemon>();
  #redis: RedisServer | undefined;

  /** Makes the secrets, and starts Redis and all nodes. */
  static async start(nodes: readonly DeployedNode[]): Promise<DeployedNodes> {
    const deployed = new DeployedNodes();
    execFileSync(MAKE_SECRETS, [deployed.#secrets, '127.0.0.1'], { stdio: ['ignore', 'pipe', 'pipe'] });
    deployed.#redis = await RedisServer.start({ aclFile: join(deployed.#secrets, 'redis.acl') });
    // Those that begin together have no order in which one of them makes the first token.
    const started = nodes.map(async (node) => {
      deployed.#nodes.set(node.name, await TestDaemon.start(deployed.#optionsFor(node)));
    });
    await Promise.all(started);
    return deployed;
  }

  /** A node, by its name. */
  get(name: string): TestDaemon {
    const daemon = this.#nodes.get(name);
    if (!daemon) throw new Error(`there is no node ${name}`);
    return daemon;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#nodes.values()].map((daemon) => daemon[Symbol.asyncDispose]()));
    await this.#redis?.[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #secrets(): string {
    return join(this.#directory, 'nodes');
  }

  #optionsFor({ name, redisUser, settings, env }: DeployedNode): DaemonOptions {
    const { link_url: _dialled, ...cluster } = this.#placed(settings.cluster ?? {});
    const { SHELL_ADAPTER_CLUSTER_LINK_URL: _url, ...variables } = this.#placed(env);
    const [, redis = ''] =
      /_REDIS_URL=(.*)$/m.exec(readFileSync(join(this.#secrets, `${redisUser}.env`), 'utf8')) ?? [];
    return {
      settings: { ...settings, cluster: { name, ...cluster, link_port: 0 } },
      env: {
        ...variables,
        SHELL_ADAPTER_CLUSTER_REDIS_URL: redis.replace('@redis:6379', `@127.0.0.1:${this.#redis?.port}`),
      },
    };
  }

  /** Values with the addresses and paths of this machine. */
  #placed<T extends object>(values: T): T {
    const text = JSON.stringify(values).replaceAll(MOUNTED, this.#secrets).replaceAll('"0.0.0.0"', '"127.0.0.1"');
    return JSON.parse(text) as T;
  }
}
