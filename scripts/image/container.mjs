// Runs an image's file system as a container engine would: read-only, with its volumes, as its user, with its entry point as
// process 1, in namespaces of processes and of the network. Needs root.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { readList, settingOf } from './dockerfile.mjs';

/** Starts the image. `volumes` is an empty folder for its volumes. */
export function startContainer(root, stage, { env, cwd }, volumes) {
  const [uid, gid] = (settingOf(stage, 'USER') ?? '0:0').split(':');
  const user = [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=-all',
    '--no-new-privs',
    '--bounding-set=-all',
  ];
  const mounts = readList(settingOf(stage, 'VOLUME') ?? '[]').flatMap((path) => {
    const volume = join(volumes, path);
    mkdirSync(volume, { recursive: true });
    execFileSync('chown', ['--reference', join(root, path), volume]);
    return ['--bind', volume, path];
  });
  const variables = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/home/shell-adapter', ...env };
  const child = spawn(
    'bwrap',
    [
      ...[
        '--ro-bind',
        root,
        '/',
        '--dev',
        '/dev',
        '--proc',
        '/proc',
        '--perms',
        '1777',
        '--tmpfs',
        '/dev/shm',
        '--perms',
        '1777',
        '--tmpfs',
        '/tmp',
        ...mounts,
      ],
      ...[
        '--unshare-pid',
        '--as-pid-1',
        '--unshare-net',
        '--unshare-ipc',
        '--unshare-uts',
        '--die-with-parent',
        '--chdir',
        cwd,
      ],
      ...['--clearenv', ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value])],
      ...[...user, ...readList(settingOf(stage, 'ENTRYPOINT'))],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  return new Container(child, { user, variables, stage });
}

/** A container that runs. */
class Container {
  #child;
  #options;
  #output = '';
  #exited;

  constructor(child, options) {
    this.#child = child;
    this.#options = options;
    this.#exited = once(child, 'exit');
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.#output += chunk));
  }

  /** What it has printed. */
  get output() {
    return this.#output;
  }

  /** The process 1 of the container, as seen from outside. */
  get init() {
    const { pid } = this.#child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  }

  /** Runs a program in the container, as its user; gives what it prints. */
  exec(args) {
    const { user, variables } = this.#options;
    return execFileSync('nsenter', ['--target', String(this.init), '--all', '--wdns=/', ...user, ...args], {
      encoding: 'utf8',
      env: variables,
      stdio: 'pipe',
    });
  }

  /** Whether the HEALTHCHECK of the image passes within `ms`. */
  async isHealthy(ms) {
    const check = readList(settingOf(this.#options.stage, 'HEALTHCHECK'));
    for (const end = performance.now() + ms; performance.now() < end; await sleep(200)) {
      if (this.#child.exitCode !== null) return false;
      try {
        this.exec(check);
        return true;
      } catch {
        // Not yet.
      }
    }
    return false;
  }

  /** Sends SIGTERM to process 1, as engines do; gives the exit code. */
  async stop() {
    process.kill(this.init, 'SIGTERM');
    const [code, signal] = await this.#exited;
    return code ?? signal;
  }

  kill() {
    this.#child.kill('SIGKILL');
  }
}
