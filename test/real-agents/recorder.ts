import { connect, createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP proxy on the loopback that keeps what passes through it. */
export class Recorder implements AsyncDisposable {
  readonly url: string;
  /** What clients have sent, and what the server has sent, as text. */
  readonly seen = { client: '', server: '' };
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Starts a proxy to the server at `url`. */
  static async start(url: string): Promise<Recorder> {
    const { hostname, port } = new URL(url);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const recorder = new Recorder(server);
    server.on('connection', (client) => {
      const upstream = connect(Number(port), hostname);
      client.on('data', (bytes) => (recorder.seen.client += bytes.toString()));
      upstream.on('data', (bytes) => (recorder.seen.server += bytes.toString()));
      client.pipe(upstream).pipe(client);
      // Either end may break off; the other one is then closed.
      client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
      upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    });
    return recorder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
