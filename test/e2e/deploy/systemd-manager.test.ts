import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { MAIN } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { canManage, ServiceManager } from '../../support/network/service-manager.js';
import { WireClient } from '../../support/wire.js';
import { freePort } from '../detach/detached-daemon.js';

const DEPLOYED = fileURLToPath(new URL('../../../deploy/systemd', import.meta.url));
const UNIT = 'shell-adapter.service';
/** Time for a service to be started again, or for sessions to end, on a busy machine. */
const RESTARTED_MS = 20_000;
/** Values of `adapter.reconnect_grace`, in seconds. */
const LONG_GRACE = 60;
const SHORT_GRACE = 1;
/** Lines that need the user and the directories of the system, or hide this checkout. */
const OF_THE_SYSTEM = /^(?:User|Group|StateDirectory|StateDirectoryMode|ProtectHome|WantedBy)=.*\n/gm;

/** The service of the package, run by a real systemd. */
class Service implements AsyncDisposable {
  readonly manager: ServiceManager;
  /** Path of the configuration, which is in the arguments of the daemon and its holders. */
  readonly configuration: string;
  readonly #port: number;

  private constructor(manager: ServiceManager, port: number) {
    this.manager = manager;
    this.configuration = `${manager.inside}/config.yaml`;
    this.#port = port;
  }

  /**
   * Installs the unit, and starts it.
   * @param isDetached with the drop-in for `adapter.detach`
   * @param graceSeconds `adapter.reconnect_grace`
   */
  static async start(isDetached: boolean, graceSeconds = LONG_GRACE): Promise<Service> {
    const service = new Service(await ServiceManager.start(), await freePort());
    try {
      service.#install(isDetached, graceSeconds);
      await service.manager.control('daemon-reload');
      // It returns when the daemon has said that it is ready.
      await service.manager.control('start', UNIT);
    } catch (error) {
      await service[Symbol.asyncDispose]();
      throw error;
    }
    return service;
  }

  connect(): Promise<WireClient> {
    const token = readFileSync(join(this.manager.folder, 'state/token'), 'utf8').trim();
    return WireClient.connect(`http://127.0.0.1:${this.#port}`, ['websocket'], { token });
  }

  /** Ends what a daemon has left, as the page says. */
  stopRest(): Promise<string> {
    const state = { SHELL_ADAPTER_ADAPTER_STATE_DIRECTORY: `${this.manager.inside}/state` };
    return this.manager.run([process.execPath, MAIN, 'stop', '--config', this.configuration], state);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.manager[Symbol.asyncDispose]();
  }

  #install(isDetached: boolean, graceSeconds: number): void {
    const { folder, inside } = this.manager;
    writeFileSync(
      join(folder, 'config.yaml'),
      stringify({ socketio: { port: this.#port }, adapter: { reconnect_grace: graceSeconds } }),
    );
    for (const name of ['state', 'workspace']) mkdirSync(join(folder, name));
    const unit = readFileSync(join(DEPLOYED, UNIT), 'utf8')
      .replaceAll(OF_THE_SYSTEM, '')
      .replace(/^ExecStart=\S+/m, `ReadWritePaths=${inside}\nExecStart=${process.execPath} ${MAIN}`)
      .replace('/etc/shell-adapter/shell_adapter.yaml', this.configuration)
      .replaceAll('/var/lib/shell-adapter', inside);
    const units = join(folder, 'systemd/user');
    writeFileSync(join(units, UNIT), unit);
    mkdirSync(join(units, `${UNIT}.d`));
    if (isDetached) copyFileSync(join(DEPLOYED, 'detach.conf'), join(units, `${UNIT}.d/detach.conf`));
  }
}

/** Whether a process with this text in its arguments runs. */
const isThere = (text: string): boolean =>
  readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && argumentsOf(pid).includes(text));

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It has ended.
    return '';
  }
}

describe.skipIf(!canManage)('the unit, run by systemd (needs root and bubblewrap)', () => {
  it('leaves nothing when it is stopped', async () => {
    await using service = await Service.start(false);
    const { mark } = await opened(service);
    await service.manager.control('stop', UNIT);
    expect(isThere(mark)).toBe(false);
    expect(isThere(service.configuration)).toBe(false);
  });

  it('keeps sessions over a restart and a crash, with the drop-in for adapter.detach', async () => {
    await using service = await Service.start(true);
    const { session_id, mark } = await opened(service);
    await service.manager.control('restart', UNIT);
    await expectKept(service, session_id);
    // Restart=on-failure starts the next one.
    await service.manager.control('kill', '--kill-who=main', '--signal=KILL', UNIT);
    await eventually(() => expectKept(service, session_id), RESTARTED_MS);
    expect(isThere(mark)).toBe(true);
  });

  it('keeps sessions when it is stopped with the drop-in, until shell-adapter stop', async () => {
    await using service = await Service.start(true);
    const { session_id, mark } = await opened(service);
    await service.manager.control('stop', UNIT);
    expect(isThere(mark)).toBe(true);
    await service.manager.control('start', UNIT);
    await expectKept(service, session_id);
    await service.manager.control('stop', UNIT);
    expect(await service.stopRest()).toContain('ended the sessions that had outlived it (1 process)');
    expect(isThere(mark)).toBe(false);
    expect(isThere(service.configuration)).toBe(false);
  });

  it('ends what is kept when no daemon comes back within adapter.reconnect_grace', async () => {
    await using service = await Service.start(true, SHORT_GRACE);
    const { mark } = await opened(service);
    await service.manager.control('stop', UNIT);
    await eventually(() => {
      expect(isThere(mark) || isThere(service.configuration)).toBe(false);
    }, RESTARTED_MS);
  });
});

/** Opens a session with a process in its background; gives both. */
async function opened(service: Service): Promise<{ readonly session_id: string; readonly mark: string }> {
  const mark = `sleep 600.${randomBytes(4).readUInt32BE()}`;
  await using client = await service.connect();
  const session_id = await client.openSession();
  await client.run(`KEPT=here; echo "$KEPT" > "/tmp/$$.kept"; ${mark} &`, session_id);
  expect(isThere(mark)).toBe(true);
  return { session_id, mark };
}

/** Expects a session to be as it was. */
async function expectKept(service: Service, session_id: string): Promise<void> {
  await using client = await service.connect();
  const { stdout } = await client.run('echo "$KEPT $(cat "/tmp/$$.kept")"', session_id);
  expect(stdout).toBe('here here\n');
}
