import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { Log } from '../../core/logging/log.js';

const run = promisify(execFile);

/** Time-out of a message, in milliseconds: it takes about 5. */
const MESSAGE_MS = 2000;

/**
 * Tells systemd, if it has started the daemon with `Type=notify`, that the daemon is ready, alive, and stopping. Node.js
 * has no datagram sockets of Unix: systemd-notify(1) sends the messages, for which the unit needs `NotifyAccess=all`.
 * Source: sd_notify(3), sd_watchdog_enabled(3).
 */
export class ServiceManager implements Disposable {
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: Log;
  #watchdog: NodeJS.Timeout | undefined;

  constructor(env: NodeJS.ProcessEnv, log: Log) {
    this.#env = env;
    this.#log = log;
  }

  /** Says that the daemon takes requests, and repeats that it is alive if the unit has a watchdog. */
  async ready(url: string): Promise<void> {
    await this.#tell('READY=1', `STATUS=listening on ${url}`);
    const intervalMs = watchdogIntervalMs(this.#env);
    if (intervalMs === undefined) return;
    this.#watchdog = setInterval(() => void this.#tell('WATCHDOG=1'), intervalMs);
    this.#watchdog.unref();
  }

  /** Says that the daemon ends. Never rejects. */
  async stopping(): Promise<void> {
    this[Symbol.dispose]();
    await this.#tell('STOPPING=1', 'STATUS=ending all commands and sessions');
  }

  [Symbol.dispose](): void {
    clearInterval(this.#watchdog);
  }

  async #tell(...message: readonly string[]): Promise<void> {
    const { NOTIFY_SOCKET: socket, PATH: path } = this.#env;
    if (!socket) return;
    try {
      await run('systemd-notify', [...message], { env: { NOTIFY_SOCKET: socket, PATH: path }, timeout: MESSAGE_MS });
    } catch (error) {
      // The program is missing, or the socket is not there.
      const [what] = message;
      this.#log.warn('systemd could not be told; with Type=notify it ends the daemon: install systemd-notify', {
        message: what,
        error: (error as Error).message.trim(),
      });
    }
  }
}

/**
 * The interval of the messages that the daemon is alive, in milliseconds: half of what the unit allows. Undefined without
 * a watchdog, or when it watches another process.
 */
function watchdogIntervalMs({ WATCHDOG_USEC: usec, WATCHDOG_PID: pid }: NodeJS.ProcessEnv): number | undefined {
  const limitMs = Number(usec ?? 0) / 1000;
  const isOwn = pid === undefined || pid === String(process.pid);
  return isOwn && limitMs > 0 ? limitMs / 2 : undefined;
}
