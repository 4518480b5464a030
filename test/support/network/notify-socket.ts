import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Debian's own, which other tests need too. */
const PYTHON = '/usr/bin/python3';

/**
 * Prints each datagram as a line of JSON, with the process that has sent it, as systemd learns it. The sender of a barrier waits until
 * its descriptor is closed. Source: sd_notify(3).
 */
const RECEIVER = `
import array, json, os, socket, struct, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
print('"ready"', flush=True)
while True:
    data, ancillary, _, _ = receiver.recvmsg(4096, 1024)
    for _, kind, value in ancillary:
        if kind == socket.SCM_RIGHTS:
            for descriptor in array.array('i', value): os.close(descriptor)
    pids = [struct.unpack('3i', value[:12])[0] for _, kind, value in ancillary if kind == socket.SCM_CREDENTIALS]
    lines = data.decode().strip().split('\\n')
    if lines != ['BARRIER=1']: print(json.dumps({'lines': lines, 'pid': pids[0]}), flush=True)
`;

/** Whether a socket of this kind can be made here. */
export const canReceiveNotifications = (): boolean => existsSync(PYTHON);

/** A message to a service manager. */
export interface Notification {
  readonly lines: readonly string[];
  readonly pid: number;
}

/** The datagram socket of a service manager, as NOTIFY_SOCKET names it. */
export class NotifySocket implements AsyncDisposable {
  readonly #child;
  readonly #lines: AsyncIterator<string>;

  private constructor(path: string) {
    this.#child = spawn(PYTHON, ['-c', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Makes a socket at a path, and waits until it can be sent to. */
  static async open(path: string): Promise<NotifySocket> {
    const socket = new NotifySocket(path);
    await socket.#lines.next();
    return socket;
  }

  /** Waits for the next message. */
  async next(): Promise<Notification> {
    const { value } = (await this.#lines.next()) as { value: string };
    return JSON.parse(value) as Notification;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
