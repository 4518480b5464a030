import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../../support/daemon.js';
import { HANG_MS } from '../../../support/hang.js';
import { eventually, settled, timed } from '../../../support/measure.js';
import { canLimitPids } from '../../../support/machine/pids-limit.js';
import {
  cpuMs,
  descriptorCount,
  instanceOf,
  isRunning,
  runtimeDirectoriesOf,
  taggedProcesses,
} from '../../../support/processes.js';
import { describeRootIf } from '../../../support/root.js';
import { rounds } from '../../../support/rounds.js';
import { WireClient } from '../../../support/wire.js';

/** Needs writable control groups of version 1. */
const describeLimited = describeRootIf(canLimitPids());

/** How long an idle daemon is watched: a hundredth of it is a few clock ticks. */
const IDLE_MS = 5000;
/** Sessions that are opened and closed. */
const CLOSED = rounds(200, 60);

/** Programs that outlive their parents, have no terminal and no environment by which they could be told; prints their pids. */
const ESCAPEES = [
  'setsid sleep 300',
  'nohup sleep 300',
  'env -i setsid sleep 300',
  "env -i python3 -c 'import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(300)'",
];

/** The control groups that a daemon has noted as its own. */
function groupsOf(daemon: TestDaemon): string[] {
  const [directory = ''] = runtimeDirectoriesOf(daemon.pid);
  return readFileSync(join(directory, 'control-groups'), 'utf8').trim().split('\n');
}

/** Processes in all groups of a daemon's sessions: those of `sleep` and python, that is, without shells. */
function escapeesOf(daemon: TestDaemon, shells: readonly number[]): number[] {
  const instance = groupsOf(daemon).find((group) => group.includes('/pids/'))!;
  const groups = Array.from({ length: 40 }, (_, number) => join(instance, `g${number}`, 'cgroup.procs'));
  const members = groups
    .filter(existsSync)
    .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n').map(Number));
  return members.filter((pid) => {
    const name = pid > 0 && isRunning(pid) ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : '';
    return !shells.includes(pid) && (name === 'sleep' || name.startsWith('python'));
  });
}

async function startEscapees(daemon: TestDaemon, client: WireClient): Promise<{ id: string; pids: number[] }> {
  const id = await client.openSession();
  await client.run(ESCAPEES.map((program) => `(${program} >/dev/null 2>&1 &)`).join('\n'), id);
  await eventually(() => {
    expect(escapeesOf(daemon, [])).toHaveLength(ESCAPEES.length);
  });
  // One that forks is two processes for a moment.
  await settled(() => escapeesOf(daemon, []).reduce((sum, pid) => sum + pid, 0));
  const pids = escapeesOf(daemon, []);
  return { id, pids };
}

describeLimited('what has given up everything by which it could be told', () => {
  it('F4: is ended with its session, within a second', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { kill_grace: 0.3 } } });
    await using client = await WireClient.connect(daemon.url);
    const { id, pids } = await startEscapees(daemon, client);
    await client.request('close_session', { session_id: id });
    await eventually(() => {
      expect(pids.filter(isRunning)).toEqual([]);
    }, 1000);
  });

  it('F4: is ended with the time-out of its command; what earlier commands have left goes on', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { kill_grace: 0.3 } } });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    const kept = Number((await client.run('nohup sleep 301 >/dev/null 2>&1 & echo $!', id)).stdout);
    const start = `(${ESCAPEES[3]!} >/dev/null 2>&1 &)`;
    const result = await client.run(`${start}; sleep 300`, id, { timeout_ms: 1000 });
    expect(result).toMatchObject({ status: 'timed_out', session_state: 'alive' });
    expect(escapeesOf(daemon, [kept])).toEqual([]);
    expect(isRunning(kept)).toBe(true);
  });

  it('F4: is ended with a one-shot', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { kill_grace: 0.3 } } });
    await using client = await WireClient.connect(daemon.url);
    await client.run(`(${ESCAPEES[3]!} >/dev/null 2>&1 &)`);
    await eventually(() => {
      expect(escapeesOf(daemon, [])).toEqual([]);
    });
  });

  it('F9: is ended, and the control groups removed, by the next start after a SIGKILL', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
    const killed = await TestDaemon.start({}, directory);
    const client = await WireClient.connect(killed.url);
    const { pids } = await startEscapees(killed, client);
    const groups = groupsOf(killed);
    expect(groups.filter(existsSync)).toEqual(groups);
    killed.signal('SIGKILL');
    await killed.exited;
    await client[Symbol.asyncDispose]();
    await using daemon = await TestDaemon.start({}, directory);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(groups.filter(existsSync)).toEqual([]);
    expect(groupsOf(daemon).filter(existsSync)).toHaveLength(3);
  });

  it('F9: two daemons leave each other alone, and remove what is theirs', async () => {
    const first = await TestDaemon.start();
    const client = await WireClient.connect(first.url);
    const { pids } = await startEscapees(first, client);
    const groups = groupsOf(first);
    {
      await using second = await TestDaemon.start();
      expect(second.pid).not.toBe(first.pid);
    }
    expect(pids.filter(isRunning)).toEqual(pids);
    await client[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect([pids.filter(isRunning), groups.filter(existsSync)]).toEqual([[], []]);
  });
});

describeLimited('F15: a fork bomb', () => {
  /** Not root's, and it ends by itself after some seconds whatever happens. */
  const BOMB = "timeout -s KILL 10 setpriv --reuid=65534 --regid=65534 --clear-groups bash -c ':(){ :|:& };:; sleep 9'";

  it('F15: gone after its limit was noticed, while the daemon answers', async () => {
    await using daemon = await TestDaemon.start();
    chmodSync(daemon.directory, 0o755);
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession({ limits: { processes: 64 } });
    const ended = new AbortController();
    const bomb = client.run(`cd /; ${BOMB} 2>/dev/null`, id).finally(() => {
      ended.abort();
    });
    const noticed = client.event('resource_warning', ({ level }) => level === 'exceeded');
    const ending = noticed.then(() => timed(() => bomb));
    const pings: number[] = [];
    while (!ended.signal.aborted) pings.push((await timed(() => client.request('get_session', { session_id: id }))).ms);
    expect(await bomb).toMatchObject({
      status: 'killed',
      killed_by: 'processes',
      limit: { resource: 'processes', limit: 64 },
    });
    expect((await bomb).survivors).toBeUndefined();
    expect((await ending).ms).toBeLessThan(HANG_MS);
    expect(Math.max(...pings)).toBeLessThan(HANG_MS);
    await eventually(async () => {
      expect(await client.run('echo after', id)).toMatchObject({ stdout: 'after\n' });
    });
    await client.request('close_session', { session_id: id });
  });
});

describe('what it costs', () => {
  it('I5: with 100 idle sessions the daemon takes less than a hundredth of a core', async () => {
    await using daemon = await TestDaemon.start({
      settings: { adapter: { max_sessions: 100, memory_mb_limit: 500, process_limit: 100 } },
    });
    await using client = await WireClient.connect(daemon.url);
    for (let count = 0; count < 100; count += 1) await client.run('true', await client.openSession());
    // What is started ahead of need comes first.
    await settled(() => cpuMs(daemon.pid));
    const { ms, value } = await timed(async () => {
      const before = cpuMs(daemon.pid);
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
      return cpuMs(daemon.pid) - before;
    });
    expect(value / ms).toBeLessThan(0.01);
  });

  it('I7: a closed session frees its place, and many leave nothing behind', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { max_sessions: 2, memory_mb_limit: 500 } } });
    await using client = await WireClient.connect(daemon.url);
    const first = await client.openSession();
    await client.run('true', await client.openSession());
    expect((await client.request('open_session', {})).error).toMatchObject({ code: 'SESSION_LIMIT' });
    await client.request('close_session', { session_id: first });
    const before = await holdings(daemon.pid);
    for (let count = 0; count < CLOSED; count += 1) {
      const id = await client.openSession();
      await client.run('sleep 300 & true', id);
      await client.request('close_session', { session_id: id });
    }
    const { files: filesBefore = 0, ...others } = before;
    const { files = 0, ...after } = await holdings(daemon.pid);
    expect(after).toEqual(others);
    // Directories with FIFOs are made ahead, many at once; what each would leave is more.
    expect(files - filesBefore).toBeLessThan(150);
  });
});

/** What a daemon holds when it rests: descriptors, terminals, files and FIFOs, control groups. */
async function holdings(pid: number): Promise<Record<string, number>> {
  const directories = runtimeDirectoriesOf(pid);
  const filesIn = (path: string) => readdirSync(path, { recursive: true, withFileTypes: true });
  const groups = directories.flatMap((path) => readFileSync(join(path, 'control-groups'), 'utf8').trim().split('\n'));
  const count = () => ({
    descriptors: descriptorCount(pid),
    terminals: readdirSync(`/proc/${pid}/fd`).filter((fd) => isTerminal(`/proc/${pid}/fd/${fd}`)).length,
    files: directories.flatMap(filesIn).length,
    groups: groups.filter((path) => path !== '').flatMap((path) => filesIn(path).filter((entry) => entry.isDirectory()))
      .length,
    processes: taggedProcesses(instanceOf(pid)).length,
  });
  await settled(() => Object.values(count()).reduce((sum, number) => sum + number, 0));
  return count();
}

function isTerminal(link: string): boolean {
  try {
    return readlinkSync(link) === '/dev/ptmx' || readlinkSync(link) === '/dev/pts/ptmx';
  } catch {
    // Closed since it was listed.
    return false;
  }
}
