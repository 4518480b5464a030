import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { allHolderDirectories, type HolderRecord } from '../../../src/cluster/holder-directory.js';
import { isProcess } from '../../../src/engine/platform/choose-platform.js';
import { type DaemonSettings, TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';

/** A port that was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => {
        resolve(port);
      });
    });
  });

/** A daemon whose sessions outlive it, and that can be started again: always on the same port, in the same folders. */
export class DetachedDaemon implements AsyncDisposable {
  readonly directory: string;
  readonly port: number;
  #daemon: TestDaemon | undefined;

  private constructor(directory: string, port: number) {
    this.directory = directory;
    this.port = port;
  }

  static async start(settings: DaemonSettings = {}): Promise<DetachedDaemon> {
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-detach-'));
    const detached = new DetachedDaemon(directory, await freePort());
    await detached.startAgain(settings);
    return detached;
  }

  /** The daemon that runs, or has run last. */
  get daemon(): TestDaemon {
    if (!this.#daemon) throw new Error('the daemon was not started');
    return this.#daemon;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The processes that hold its sessions. */
  get holders(): readonly HolderRecord[] {
    return allHolderDirectories(join(this.directory, 'state')).flatMap((directory) => directory.living());
  }

  /** The one that runs. */
  get holder(): HolderRecord {
    const [holder, ...others] = this.holders;
    if (!holder || others.length > 0) throw new Error(`there are ${this.holders.length} holders, not one`);
    return holder;
  }

  connect(): Promise<WireClient> {
    return WireClient.connect(this.url);
  }

  /** Ends the daemon by a signal, and waits for its end. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.daemon.signal(signal);
    await this.daemon.exited;
  }

  /** Starts it again after `end`. */
  async startAgain(settings: DaemonSettings = {}): Promise<void> {
    const adapter = { detach: true, prewarm: { sessions: 0, one_shots: 0 }, ...settings.adapter };
    const socketio = { port: this.port, ...settings.socketio };
    this.#daemon = await TestDaemon.start({ settings: { ...settings, adapter, socketio } }, this.directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon.stop();
    const { holders } = this;
    const isThere = ({ pid, identity }: HolderRecord) => isProcess(pid, identity);
    for (const { pid } of holders.filter(isThere)) process.kill(pid, 'SIGTERM');
    await eventually(() => {
      if (holders.some(isThere)) throw new Error('a holder still runs');
    });
    rmSync(this.directory, { recursive: true, force: true });
  }
}
