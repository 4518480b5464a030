import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const quietly = { stdio: 'ignore' } as const;

/** Servers on the loopback: for npm, pip and git with the package `thing`; anything else is an echo of the request. */
export class PackageSite implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'shell-adapter-site-'));
  readonly #servers: Server[];

  constructor() {
    const repository = join(this.#directory, 'origin');
    execFileSync('git', ['init', '-q', repository]);
    const commit = ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'one'];
    execFileSync('git', commit, { cwd: repository });
    execFileSync('git', ['update-server-info'], { cwd: repository });
    const [key, cert] = ['key', 'cert'].map((name) => join(this.#directory, name)) as [string, string];
    const request = ['req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-subj', '/CN=localhost', '-days', '1'];
    execFileSync('openssl', [...request, '-keyout', key, '-out', cert], quietly);
    const answer = answerFrom(join(repository, '.git'));
    const tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, answer);
    this.#servers = [createServer(answer), tls, createTcpServer((socket) => socket.end())];
  }

  /** Listens; returns the ports for HTTP, HTTPS, and one on which connections are closed. */
  async listen(): Promise<readonly number[]> {
    const ports = this.#servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    });
    return Promise.all(ports);
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) server.close();
    rmSync(this.#directory, { recursive: true });
  }
}

const PACKUMENT = {
  name: 'thing',
  'dist-tags': { latest: '1.2.3' },
  versions: { '1.2.3': { name: 'thing', version: '1.2.3', dist: { tarball: 'http://localhost/none.tgz' } } },
};

const answerFrom =
  (repository: string): RequestListener =>
  (request, response) => {
    const { url = '', method, headers } = request;
    const [path = ''] = url.split('?', 1);
    const file = path.startsWith('/repository/') ? join(repository, path.slice('/repository'.length)) : undefined;
    if (path === '/thing') response.end(JSON.stringify(PACKUMENT));
    else if (path === '/simple/thing/') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<a href="/thing-4.5.6.tar.gz">thing-4.5.6.tar.gz</a>');
    } else if (file === undefined) {
      // The answer comes once all of the request was received.
      request.resume().once('end', () => response.end(`${method} ${url} ${headers.host}\n`));
    } else if (existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end();
  };
