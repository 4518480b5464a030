import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { read } from '../../support/deploy/files.js';
import { freePort } from './redis.js';

/** False where HAProxy is missing, and its tests are skipped. */
export const canRunProxy = spawnSync('haproxy', ['-v']).status === 0;

/** HAProxy with a configuration of `deploy/docker`, on a port of its own, in front of daemons of a test. */
export class Proxy implements AsyncDisposable {
  readonly url: string;
  readonly #directory: string;
  readonly #child: ChildProcess;

  private constructor(url: string, directory: string, child: ChildProcess) {
    this.url = url;
    this.#directory = directory;
    this.#child = child;
    process.once('exit', this.#kill);
  }

  /**
   * Starts it. Only the addresses are others than in the file: there, the name service of containers knows them.
   * @param addressOf host and port of a server, by its name
   */
  static async start(file: string, addressOf: (server: string) => string): Promise<Proxy> {
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-haproxy-'));
    const port = await freePort();
    const path = join(directory, 'haproxy.cfg');
    const text = read(`deploy/docker/${file}`)
      .replace('bind :8087', `bind 127.0.0.1:${port}`)
      .replace(' resolvers containers init-addr none', '')
      .replaceAll(/^( {2}server (\S+)) \S+/gm, (_line, start: string, name: string) => `${start} ${addressOf(name)}`);
    writeFileSync(path, text);
    const child = spawn('haproxy', ['-db', '-f', path], { stdio: 'ignore' });
    return new Proxy(`http://127.0.0.1:${port}`, directory, child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#kill);
    const exited = once(this.#child, 'exit');
    if (this.#child.exitCode === null && this.#child.kill('SIGKILL')) await exited;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  readonly #kill = (): void => {
    this.#child.kill('SIGKILL');
  };
}
