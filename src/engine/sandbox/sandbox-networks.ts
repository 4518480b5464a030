import { type ChildProcess, spawn } from 'node:child_process';
import { Server, type Socket } from 'node:net';

import { PROXY_PORT, type Refusal } from '../../core/egress.js';
import { EgressProxy, type EgressProxyOptions } from '../egress/egress-proxy.js';

/** Time for the start of a namespace on a loaded machine, in milliseconds. */
const START_TIMEOUT_MS = 15_000;
/** Most characters that are kept of what bubblewrap complains about. */
const MAX_COMPLAINT = 500;

/**
 * Program of a process in the new namespace: listens on its loopback, gives the socket to the daemon, and ends. A socket
 * belongs to the namespace in which it was made, also when a process outside holds it.
 */
const LISTEN = `
const server = require('node:net').createServer();
process.once('disconnect', () => process.exit());
server.listen(${PROXY_PORT}, '127.0.0.1', () => process.send(process.ppid, server));
`;

/** Keeps the namespace until standard input ends: with the daemon. */
const HOLD = '"$@"; exec cat';

/** Programs that a namespace needs; absolute paths. */
export interface NamespacePrograms {
  /** bubblewrap. */
  readonly program: string;
  /** nsenter(1) of util-linux. */
  readonly nsenter: string;
}

/** A network namespace with a loopback alone, on which a listening socket belongs to the daemon. */
class NetworkNamespace {
  /** Command line that starts the program after it in this namespace. */
  readonly enter: readonly string[];
  /** Called when the process that keeps the namespace has ended without being asked to. */
  onLost: () => void = () => undefined;
  readonly #holder: ChildProcess;
  readonly #server: Server;

  private constructor(holder: ChildProcess, server: Server, enter: readonly string[]) {
    this.#holder = holder;
    this.#server = server;
    this.enter = enter;
    // Responses may follow after the client has closed its side.
    Object.assign(server, { allowHalfOpen: true });
    holder.once('exit', () => {
      this.onLost();
    });
  }

  /**
   * Makes a namespace.
   * @param onConnection receives the connections out of the namespace
   * @throws Error with the reason why it cannot be made
   */
  static async create(
    { program, nsenter }: NamespacePrograms,
    onConnection: (client: Socket) => void,
  ): Promise<NetworkNamespace> {
    const listen = [process.execPath, '-e', LISTEN];
    const args = ['--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', '--', '/bin/sh', '-c', HOLD, 'sh'];
    const holder = spawn(program, [...args, ...listen], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    });
    const { pid, server } = await started(holder);
    server.on('connection', onConnection);
    const { user, net } = { user: `--user=/proc/${pid}/ns/user`, net: `--net=/proc/${pid}/ns/net` };
    // Root's namespace needs no user namespace around it.
    const asUser = process.getuid?.() === 0 ? [] : [user, '--preserve-credentials'];
    return new NetworkNamespace(holder, server, [nsenter, ...asUser, net, '--']);
  }

  /** Removes the namespace, once nothing runs in it any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.onLost = () => undefined;
    this.#server.close();
    await ended(this.#holder);
  }
}

function started(holder: ChildProcess): Promise<{ readonly pid: number; readonly server: Server }> {
  let complaint = '';
  holder.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-MAX_COMPLAINT);
  });
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(new Error(`no network namespace for the allow-list: ${complaint.trim() || why}`));
      void ended(holder);
    };
    const timer = setTimeout(() => {
      fail(`it was not ready within ${START_TIMEOUT_MS / 1000} s`);
    }, START_TIMEOUT_MS);
    holder.once('error', ({ message }) => {
      fail(message);
    });
    holder.once('close', (code) => {
      fail(`it ended with ${code ?? 'a signal'}`);
    });
    holder.once('message', (pid, server) => {
      clearTimeout(timer);
      holder.removeAllListeners('close');
      holder.disconnect();
      if (server instanceof Server) resolve({ pid: Number(pid), server });
      else fail('it has no listening socket');
    });
  });
}

/** Ends the process that keeps a namespace: at the end of its standard input. */
async function ended(holder: ChildProcess): Promise<void> {
  if (holder.pid === undefined || holder.exitCode !== null || holder.signalCode !== null) return;
  const exit = new Promise((resolve) => holder.once('exit', resolve));
  holder.stdin?.end();
  if (holder.connected) holder.disconnect();
  await exit;
}

/** Most networks that are kept for later sandboxes: a command without a session uses one for a moment. */
const MAX_IDLE = 4;

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
    variables: SandboxNetwork['variables'],
    giveBack: (network: ProxiedNetwork) => void,
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
  readonly #programs: NamespacePrograms;
  readonly #proxy: EgressProxyOptions;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #all = new Set<ProxiedNetwork>();
  readonly #idle: ProxiedNetwork[] = [];
  #isClosed = false;

  /** @param variables by which programs find the proxy */
  constructor(programs: NamespacePrograms, proxy: EgressProxyOptions, variables: Readonly<Record<string, string>>) {
    this.#programs = programs;
    this.#proxy = proxy;
    this.#variables = variables;
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
    const proxy = new EgressProxy(this.#proxy);
    const namespace = await NetworkNamespace.create(this.#programs, (client) => {
      proxy.accept(client);
    });
    const network = new ProxiedNetwork(namespace, proxy, this.#variables, (given) => {
      this.#takeBack(given);
    });
    namespace.onLost = () => {
      network.isLost = true;
      this.#proxy.log.warn('the network of a sandbox has ended; the next sandbox gets another');
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
