import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import type { NodeCertificate } from './certificates.js';

const IS_INSTALLED = spawnSync('redis-server', ['--version']).status === 0;

/** False where Redis is missing, and the tests need not run (`CLUSTER_TESTS=required`). */
export const canRunRedis = IS_INSTALLED || process.env['CLUSTER_TESTS'] === 'required';

if (!canRunRedis) process.stderr.write('the registry of a cluster is not tested: redis-server is not installed\n');

/** How a server is started. */
interface RedisServerOptions {
  /** @default none */
  readonly password?: string;
  /** Its users. @default the default one */
  readonly aclFile?: string;
  /** Where it listens, with a password. @default 127.0.0.1 */
  readonly address?: string;
  /** Has it listen with TLS. */
  readonly tls?: NodeCertificate;
}

/** A Redis of a test's own, in memory, on a port of its own. It can be ended, frozen, and started again empty. */
export class RedisServer implements AsyncDisposable {
  readonly port: number;
  readonly #directory = mkdtempSync(join(tmpdir(), 'shell-adapter-redis-'));
  readonly #options: RedisServerOptions;
  #child: ChildProcess | undefined;

  private constructor(port: number, options: RedisServerOptions) {
    this.port = port;
    this.#options = options;
  }

  /** A server that does not run yet. */
  static async prepare(options: RedisServerOptions = {}): Promise<RedisServer> {
    return new RedisServer(await freePort(), options);
  }

  /** Starts a server, and waits until it answers. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = await RedisServer.prepare(options);
    await server.start();
    return server;
  }

  /** Its address, with the password. */
  get url(): string {
    const { password, address = '127.0.0.1', tls } = this.#options;
    return `${tls ? 'rediss' : 'redis'}://${password === undefined ? '' : `:${password}@`}${address}:${this.port}/0`;
  }

  /** Starts it, empty. */
  async start(): Promise<void> {
    const { password, aclFile, address = '127.0.0.1', tls } = this.#options;
    const child = spawn(
      'redis-server',
      [
        ...(tls
          ? ['--port', '0', '--tls-port', String(this.port), '--tls-auth-clients', 'no']
          : ['--port', String(this.port)]),
        ...(tls ? ['--tls-cert-file', tls.cert, '--tls-key-file', tls.key, '--tls-ca-cert-file', tls.ca] : []),
        ...['--bind', address, '--save', '', '--appendonly', 'no'],
        ...['--dir', this.#directory, ...(password === undefined ? [] : ['--requirepass', password])],
        ...(aclFile === undefined ? [] : ['--aclfile', aclFile]),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.#child = child;
    process.once('exit', this.#kill);
    let log = '';
    for await (const chunk of child.stdout) {
      log += String(chunk);
      if (log.includes('Ready to accept connections')) break;
    }
    if (!log.includes('Ready to accept connections')) throw new Error(`redis-server has not started:\n${log}`);
  }

  /** Freezes it, or has it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  /** Ends it at once; what it has is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    process.off('exit', this.#kill);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Asks it something by a connection of its own. */
  async ask<T>(act: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(this.url);
    try {
      return await act(redis);
    } finally {
      redis.disconnect();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  readonly #kill = (): void => {
    this.#child?.kill('SIGKILL');
  };
}

/** A port on which nothing listens at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
