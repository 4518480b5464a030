import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP proxy in front of a daemon whose connections break when a test says so, with all that is on its way. */
export class FlakyProxy implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #accepted = 0;
  #isRefusing = false;
  #isSilent = false;
  #delayMs = 0;
  /** Bytes from the daemon that still pass before everything is cut. */
  #budget: { bytes: number; readonly resolve: () => void } | undefined;

  private constructor(server: Server, target: { host: string; port: number }) {
    this.#server = server;
    this.#target = target;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (client) => {
      this.#relay(client);
    });
  }

  /** Starts a proxy to the daemon at `url`. */
  static async start(url: string): Promise<FlakyProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return new FlakyProxy(server, targetOf(url));
  }

  /** Connections that were made through it so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** New connections lead to the daemon at `url` from now on. */
  aim(url: string): void {
    this.#target = targetOf(url);
  }

  /** Breaks every connection at once. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /** Breaks every connection after so many more bytes from the daemon, wherever in a message that is. */
  cutAfter(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#budget = { bytes, resolve };
    });
  }

  /** While refusing, new connections are closed at once. */
  refuse(isRefusing: boolean): void {
    this.#isRefusing = isRefusing;
  }

  /** While silent, nothing passes: what comes from either side is lost, and the connections stay. */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent;
  }

  /** What is sent arrives so much later, in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Waits until this many connections have been made in all. */
  async connections(count: number): Promise<void> {
    if (this.#accepted >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #relay(client: Socket): void {
    if (this.#isRefusing) {
      client.destroy();
      return;
    }
    this.#accepted += 1;
    const daemon = connectTcp(this.#target);
    const pair = [client, daemon];
    for (const socket of pair) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      // A broken connection is this proxy's business: each side sees its own end.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        for (const other of pair) other.destroy();
      });
    }
    client.on('data', (chunk: Buffer) => {
      this.#carry(() => {
        if (!this.#isSilent && !daemon.destroyed) daemon.write(chunk);
      });
    });
    daemon.on('data', (chunk: Buffer) => {
      this.#carry(() => {
        this.#forward(chunk, client, daemon);
      });
    });
    for (const { count, resolve } of this.#waiting) if (this.#accepted >= count) resolve();
  }

  #carry(deliver: () => void): void {
    if (this.#delayMs === 0) deliver();
    else setTimeout(deliver, this.#delayMs);
  }

  #forward(chunk: Buffer, client: Socket, daemon: Socket): void {
    if (this.#isSilent || client.destroyed) return;
    const budget = this.#budget;
    if (budget && chunk.length >= budget.bytes) {
      this.#budget = undefined;
      // The first part of a message arrives, then the connection ends.
      client.write(chunk.subarray(0, budget.bytes), () => {
        this.cut();
        budget.resolve();
      });
      return;
    }
    if (budget) budget.bytes -= chunk.length;
    if (client.write(chunk)) return;
    // The daemon sees a slow client as one.
    daemon.pause();
    client.once('drain', () => daemon.resume());
  }
}

function targetOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
}
