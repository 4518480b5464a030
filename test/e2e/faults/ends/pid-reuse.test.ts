import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { TestDaemon } from '../../../support/daemon.js';
import { eventually, timed } from '../../../support/measure.js';
import { isRunning } from '../../../support/processes.js';
import { describeRootIf } from '../../../support/root.js';
import { WireClient } from '../../../support/wire.js';

/** Runtime directories of daemons outside must not be seen: from within, those seem to be dead. */
const HIDE = 'for path in /dev/shm /run/user; do [ ! -d $path ] || mount -t tmpfs none $path || exit; done';
/** Starts a program in a namespace of process ids, under a first process that waits for what others have left. */
const LAUNCHER = [
  'unshare',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
  'sh',
  '-c',
  `${HIDE}; "$@"; exit`,
  'sh',
];
/** The number that the next process of a namespace follows (proc(5)). */
const LAST_PID = '/proc/sys/kernel/ns_last_pid';
/** Long enough to take a number while something is being ended. */
const KILL_GRACE_MS = 2000;

const canChoosePids = spawnSync(LAUNCHER[0]!, [...LAUNCHER.slice(1), 'sh', '-c', `echo 100 >${LAST_PID}`]).status === 0;

const childOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

/** What runs in the namespace and is none of the daemon's. */
class Namespace implements AsyncDisposable {
  readonly #daemon: TestDaemon;
  readonly #pid: number;
  readonly #foreign: number[] = [];

  constructor(daemon: TestDaemon) {
    this.#daemon = daemon;
    this.#pid = childOf(daemon.pid);
  }

  /** Whether a process of this number is there. */
  has(pid: number): boolean {
    return spawnSync('nsenter', [...this.#entrance, 'test', '-e', `/proc/${pid}`]).status === 0;
  }

  /** Starts a foreign process under a number that is free; gives its number outside. */
  async start(pid: number): Promise<number> {
    const text = `echo ${pid - 1} >${LAST_PID}; sleep 300 & [ $! = ${pid} ] && echo $! && wait`;
    const shell = spawn('nsenter', [...this.#entrance, 'sh', '-c', text], { stdio: ['ignore', 'pipe', 'inherit'] });
    expect(String((await once(shell.stdout, 'data'))[0])).toBe(`${pid}\n`);
    // nsenter forks: its child is the shell.
    const outer = childOf(childOf(shell.pid!));
    this.#foreign.push(outer);
    return outer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.#foreign.filter(isRunning)) process.kill(pid);
    // `unshare` itself does not hand signals on.
    process.kill(childOf(this.#pid), 'SIGTERM');
    await this.#daemon.exited;
  }

  get #entrance(): readonly string[] {
    return ['--target', String(this.#pid), '--pid', '--mount'];
  }
}

describeRootIf(canChoosePids)('F31: a process id that is used again', () => {
  it('after a background process: what has its number now is left alone', async () => {
    await using daemon = await TestDaemon.start({ launcher: LAUNCHER });
    await using namespace = new Namespace(daemon);
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    const { background_processes: left } = await client.run('sleep 300 &', id);
    const [{ pid } = { pid: 0 }] = left;
    await client.run(`kill ${pid}; wait`, id);
    const foreign = await namespace.start(pid);
    await client.run('sleep 301', id, { timeout_ms: 100 });
    await client.request('reset_session', { session_id: id });
    await client.request('close_session', { session_id: id });
    expect(isRunning(foreign)).toBe(true);
  });

  it('while a session is being ended: who has taken the number of one that went by SIGTERM gets no SIGKILL', async () => {
    const settings = { adapter: { kill_grace: KILL_GRACE_MS / 1000 } };
    await using daemon = await TestDaemon.start({ launcher: LAUNCHER, settings });
    await using namespace = new Namespace(daemon);
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    const stubborn = `sh -c 'trap "" INT TERM HUP; while :; do sleep 1; done'`;
    const { stdout } = await client.run(`${stubborn} & sleep 300 & echo $!`, id);
    const pid = Number(stdout);
    const closing = timed(() => client.request('close_session', { session_id: id }));
    await eventually(() => {
      expect(namespace.has(pid)).toBe(false);
    });
    const foreign = await namespace.start(pid);
    expect((await closing).ms).toBeGreaterThan(KILL_GRACE_MS);
    expect(isRunning(foreign)).toBe(true);
  });
});
