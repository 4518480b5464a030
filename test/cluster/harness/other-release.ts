import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Server, type Socket as ServedSocket } from 'socket.io';
import { io, type Socket } from 'socket.io-client';

import { LINK_VERSION, type LinkIdentity } from '../../../src/core/cluster/link-messages.js';
import { LinkSecret, randomNonce } from '../../../src/services/access/dashboard-links.js';
import type { NodeCertificate } from './certificates.js';
import type { TestCluster, TestWorker } from './cluster.js';

/** A version that comes after this one. */
export const OTHER_VERSION = '99.0.0';
/** What messages of a later release may have besides. */
const MORE = { future: { deep: [1, 2] } };

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Makes the built daemon with another version, in a folder; gives its command line. */
export function makeOtherRelease(folder: string): readonly string[] {
  mkdirSync(folder);
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'config'), join(folder, 'config'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const about = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...about, version: OTHER_VERSION }));
  return [process.execPath, join(folder, 'dist', 'main.js'), 'serve'];
}

const identityOf = (node: string, linkVersion: number): LinkIdentity => ({
  node,
  incarnation: 'a1b2c3d',
  version: OTHER_VERSION,
  link_version: linkVersion,
  instance_id: 'an-instance',
});

const filesOf = ({ cert, key, ca }: NodeCertificate) => ({
  cert: readFileSync(cert, 'utf8'),
  key: readFileSync(key, 'utf8'),
  ca: readFileSync(ca, 'utf8'),
});

/** Dials a worker as a gateway of another release does; gives the connection, and what the worker replies. */
export async function dialAs(
  node: string,
  worker: TestWorker,
  cluster: TestCluster,
  linkVersion = LINK_VERSION,
): Promise<{ readonly socket: Socket; readonly reply: unknown }> {
  const tls = filesOf(cluster.authority.issue(node, 'serverAuth,clientAuth'));
  const socket = io(worker.url, { transports: ['websocket'], reconnection: false, forceNew: true, ...tls });
  const { nonce: dialled } = await new Promise<{ nonce: string }>((resolve, reject) => {
    socket.once('challenge', resolve);
    socket.once('connect_error', reject);
  });
  const identity = identityOf(node, linkVersion);
  const nonces = { dialling: randomNonce(), dialled };
  const proof = new LinkSecret(cluster.secretFile).prove('dialling', nonces, identity);
  const reply: unknown = await socket.emitWithAck('hello', { ...identity, nonce: nonces.dialling, proof, ...MORE });
  return { socket, reply };
}

/** A worker of another release, which answers each request by what it is told to. */
export class OtherWorker implements AsyncDisposable {
  readonly url: string;
  readonly #http: HttpsServer;
  readonly #io: Server;

  private constructor(http: HttpsServer, server: Server) {
    this.#http = http;
    this.#io = server;
    this.url = `https://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  static async start(
    node: string,
    cluster: TestCluster,
    {
      linkVersion = LINK_VERSION,
      answer,
    }: { readonly linkVersion?: number; readonly answer: (name: string) => object },
  ): Promise<OtherWorker> {
    const tls = filesOf(cluster.authority.issue(node, 'serverAuth'));
    const http = createServer({ ...tls, requestCert: true, rejectUnauthorized: true });
    const server = new Server(http, { transports: ['websocket'] });
    const identity = identityOf(node, linkVersion);
    const secret = new LinkSecret(cluster.secretFile);
    server.on('connection', (socket) => {
      const dialled = randomNonce();
      socket.once('hello', ({ nonce: dialling }: { nonce: string }, acknowledge: (reply: object) => void) => {
        const proof = secret.prove('dialled', { dialling, dialled }, identity);
        acknowledge({ ...identity, proof, load: LOAD, labels: {}, ...MORE });
        speak(socket);
      });
      socket.on(
        'request',
        ({ name, client }: { name: string; client: string }, acknowledge: (reply: object) => void) => {
          socket.emit('event', { client, name: 'future_event', payload: { of: name }, bytes: 0, ...MORE });
          acknowledge({ ...answer(name), ...MORE });
        },
      );
      socket.emit('challenge', { link_version: linkVersion, nonce: dialled, ...MORE });
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return new OtherWorker(http, server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#io.close();
    if (this.#http.listening) this.#http.close();
  }
}

const LOAD = { sessions: 0, one_shots: 0, capacity: 10, is_draining: false, ...MORE };

/** Says what this release does not know. */
function speak(socket: ServedSocket): void {
  socket.emit('future', MORE);
  socket.emit('load', LOAD);
}
