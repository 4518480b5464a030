import type { Refusal } from '../../core/egress/refusal.js';
import type { Log } from '../../core/logging/log.js';
import { EgressProxy, type EgressProxyOptions } from '../egress/egress-proxy.js';
import { type NamespacePrograms, NetworkNamespace } from './network-namespace.js';

/** Most networks that are kept for later sandboxes: a command without a session uses one for a moment. */
const MAX_IDLE = 4;

/** Dependencies of `SandboxNetworks`. */
export interface SandboxNetworksOptions {
  readonly programs: NamespacePrograms;
  readonly proxy: EgressProxyOptions;
  /** Variables by which programs find the proxy. */
  readonly variables: Readonly<Record<string, string>>;
  readonly log: Log;
}

/** The network of one sandbox: a loopback of its own, on which the proxy listens. */
export interface SandboxNetwork extends Disposable {
  /** Command line that starts the program after it in this network. */
  readonly enter: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Called for each refused connection. */
  onRefused: (refusal: Refusal) => void;
}

/** A namespace with its proxy. */
class ProxiedNetwork implements SandboxNetwork {
  readonly variables: SandboxNetwork['variables'];
  readonly namespace: NetworkNamespace;
  isLost = false;
  readonly #proxy: EgressProxy;
  readonly #giveBack: (network: ProxiedNetwork) => void;
  #isTaken = false;

  constructor(
    namespace: NetworkNamespace,
    proxy: EgressProxy,
    {
      variables,
      giveBack,
    }: { readonly variables: SandboxNetwork['variables']; giveBack: (network: ProxiedNetwork) => void },
  ) {
    this.namespace = namespace;
    this.variables = variables;
    this.#proxy = proxy;
    this.#giveBack = giveBack;
  }

  get enter(): readonly string[] {
    return this.namespace.enter;
  }

  get onRefused(): SandboxNetwork['onRefused'] {
    return this.#proxy.onRefused;
  }

  set onRefused(listener: SandboxNetwork['onRefused']) {
    this.#proxy.onRefused = listener;
  }

  take(): this {
    this.#isTaken = true;
    return this;
  }

  /** Closes its connections, and gives it back. The sandbox has ended. */
  [Symbol.dispose](): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#proxy[Symbol.dispose]();
    this.#giveBack(this);
  }
}

/**
 * Networks of sandboxes with an allow-list. One that is given back serves another sandbox: nothing of the first remains, as
 * its processes have ended and none of them could change the network.
 */
export class SandboxNetworks implements AsyncDisposable {
  readonly #options: SandboxNetworksOptions;
  readonly #all = new Set<ProxiedNetwork>();
  readonly #idle: ProxiedNetwork[] = [];
  #isClosed = false;

  constructor(options: SandboxNetworksOptions) {
    this.#options = options;
  }

  /**
   * Returns a network for one sandbox. Dispose of it when the sandbox has ended.
   * @throws Error with the reason why none can be made
   */
  async take(): Promise<SandboxNetwork> {
    const network = this.#idle.pop() ?? (await this.#make());
    return network.take();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#idle.length = 0;
    await Promise.all([...this.#all].map((network) => this.#end(network)));
  }

  async #make(): Promise<ProxiedNetwork> {
    const { programs, proxy: options, variables, log } = this.#options;
    const proxy = new EgressProxy(options);
    const namespace = await NetworkNamespace.create(programs, (client) => {
      proxy.accept(client);
    });
    const network = new ProxiedNetwork(namespace, proxy, {
      variables,
      giveBack: (given) => {
        this.#takeBack(given);
      },
    });
    namespace.onLost = () => {
      network.isLost = true;
      log.warn('the network of a sandbox has ended; the next sandbox gets another');
      if (this.#idle.includes(network)) this.#idle.splice(this.#idle.indexOf(network), 1);
    };
    this.#all.add(network);
    return network;
  }

  #takeBack(network: ProxiedNetwork): void {
    if (this.#isClosed || network.isLost || this.#idle.length >= MAX_IDLE) void this.#end(network);
    else this.#idle.push(network);
  }

  async #end(network: ProxiedNetwork): Promise<void> {
    this.#all.delete(network);
    await network.namespace[Symbol.asyncDispose]();
  }
}
