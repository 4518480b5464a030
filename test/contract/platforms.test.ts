import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { spawn as spawnOnTerminal } from 'node-pty';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { tryLock, unlock } from '../../src/engine/instance/file-lock.js';
import { choosePlatform, identityLike, isProcess } from '../../src/engine/platform/choose-platform.js';
import { isListedByProgram, isRunning, TAG_VARIABLE } from '../../src/engine/platform/platform.js';
import { linux } from '../../src/engine/platform/linux/linux.js';
import { posix } from '../../src/engine/platform/posix/posix.js';
import { findSessionProcesses, plainRoot } from '../../src/engine/process/find-processes.js';
import { findNewProcesses } from '../../src/engine/process/background-processes.js';
import { eventually } from '../support/measure.js';

const PLATFORMS = [linux, posix];
const TAG = `contract-${process.pid}.session`;
/** No process has this pid: it is above the largest of Linux and of macOS. */
const NO_PID = 2 ** 22 + 1;

async function listen(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await closed;
}

describe.each(PLATFORMS)('the platform $name', (platform) => {
  const { processes } = platform;
  const children: ChildProcess[] = [];

  /** Runs text in a shell that leads a session; gives the first line that it prints. */
  async function start(
    text: string,
    tag = `${TAG}.1`,
  ): Promise<{ readonly child: ChildProcess; readonly line: string }> {
    const child = spawn('sh', ['-c', text], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
      env: { PATH: process.env['PATH'], [TAG_VARIABLE]: tag },
    });
    children.push(child);
    return { child, line: String((await once(child.stdout, 'data'))[0]).trim() };
  }

  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      process.kill(-child.pid!, 'SIGKILL');
      await ended;
    }
  });

  it('shows a process as it is', async () => {
    const { child, line } = await start('sleep 300 & echo $!; wait');
    const [shell, sleeper] = [processes.read(child.pid!)!, processes.read(Number(line))!];
    expect(shell).toMatchObject({ pid: child.pid, parent: process.pid, group: child.pid, session: child.pid });
    expect(sleeper).toMatchObject({ parent: child.pid, group: child.pid, session: child.pid });
    expect([shell, sleeper].map(isRunning)).toEqual([true, true]);
    const ageTicks = processes.ticksNow() - shell.startTicks;
    expect(ageTicks).toBeGreaterThan(-200);
    expect(ageTicks).toBeLessThan(6000);
  });

  it('lists all processes, and the children of one', async () => {
    const { child, line } = await start('sleep 300 & echo $!; wait');
    const listed = processes.list().map(({ pid }) => pid);
    expect(listed).toEqual(expect.arrayContaining([process.pid, child.pid, Number(line)]));
    expect(processes.pids()).toEqual(expect.arrayContaining([process.pid, child.pid, Number(line)]));
    expect(processes.childrenOf(child.pid!).map(({ pid }) => pid)).toEqual([Number(line)]);
  });

  it('knows what a process was started with, and its command line', async () => {
    const { child } = await start('echo ready; exec sleep 300.5');
    await eventually(() => {
      expect(processes.commandLine({ pid: child.pid!, name: '' })).toBe('sleep 300.5');
    });
    expect([processes.tagOf(child.pid!), processes.originOf(processes.read(child.pid!)!)]).toEqual([
      `${TAG}.1`,
      `${TAG}.1`,
    ]);
    expect(processes.tagOf(process.pid)).toBe(process.env[TAG_VARIABLE]);
  });

  it('knows what has gone, and what is only a zombie', async () => {
    const { child, line } = await start("sh -c 'exit' & echo $!; exec sleep 300");
    const shell = processes.read(child.pid!)!;
    await eventually(() => {
      expect(processes.isEnding({ pid: Number(line) })).toBe(true);
    });
    expect(processes.isAlive(shell)).toBe(true);
    expect([processes.read(NO_PID), processes.isAlive({ pid: NO_PID, startTicks: 1 })]).toEqual([undefined, false]);
    const ended = once(child, 'exit');
    process.kill(child.pid!, 'SIGKILL');
    await ended;
    expect([processes.isAlive(shell), processes.read(child.pid!)]).toEqual([false, undefined]);
  });

  it('takes no other process with the same pid for the one it knew', () => {
    const self = processes.read(process.pid)!;
    expect(processes.isAlive(self)).toBe(true);
    expect(processes.isAlive({ ...self, startTicks: self.startTicks - 1000 })).toBe(false);
  });

  it('identifies a process, also for another program', () => {
    const identity = processes.identityOf(process.pid)!;
    expect(isProcess(process.pid, identity)).toBe(true);
    expect(isProcess(process.ppid, identity)).toBe(false);
    expect(identityLike(identity, process.pid)?.split('/')[0]).toBe(identity.split('/')[0]);
    expect(processes.identityOf(NO_PID)).toBeUndefined();
  });

  it('tells younger processes from older ones', async () => {
    const older = (await start('echo ready; exec sleep 300')).child;
    processes.list();
    const marker = processes.markStart();
    const younger = (await start('echo ready; exec sleep 300')).child;
    const isYounger = processes.startedSince(marker);
    expect([older, younger].map(({ pid }) => isYounger(processes.read(pid!)!))).toEqual([false, true]);
    expect(processes.pidsGivenSince(marker).includes(younger.pid!)).toBe(true);
    const scope = { tag: TAG, root: plainRoot(older.pid!), processes };
    expect(findNewProcesses(scope, marker).map(({ pid }) => pid)).toEqual([younger.pid]);
  });

  it('finds what has left its session and its parent by its tag', async () => {
    const { child } = await start('(setsid sleep 300 &); echo ready; exec sleep 300');
    const find = () => findSessionProcesses({ tag: TAG, root: plainRoot(child.pid!), processes });
    const [orphan] = await eventually(() => {
      const found = find().filter(({ pid }) => processes.commandLine({ pid, name: '' }) === 'sleep 300');
      expect(found).toHaveLength(1);
      return found;
    });
    process.kill(orphan!.pid, 'SIGKILL');
    await eventually(() => {
      expect(find()).toEqual([]);
    });
  });

  it('shows the foreground of a terminal, and who is on it', async () => {
    const terminal = spawnOnTerminal('sh', ['-c', 'sleep 300'], {});
    const ended = new Promise<void>((resolve) => {
      terminal.onExit(() => {
        resolve();
      });
    });
    try {
      await eventually(() => {
        const leader = processes.read(terminal.pid);
        expect(leader).toMatchObject({ group: terminal.pid, session: terminal.pid, foregroundGroup: terminal.pid });
      });
    } finally {
      terminal.kill('SIGKILL');
      await ended;
    }
  });

  it('lists processes without blocking, once for all that is asked together', async () => {
    const { child } = await start('sleep 300 & echo ready; wait');
    const { ask, list, pids, tagOf } = processes;
    // Without a program, others start and end in between.
    const isSameList = () => !isListedByProgram(processes) || list().length === pids().length;
    const look = () => [pids().includes(child.pid!), isSameList(), tagOf(child.pid!)];
    expect(await Promise.all([ask(look), ask(look)])).toEqual([
      [true, true, `${TAG}.1`],
      [true, true, `${TAG}.1`],
    ]);
    const younger = (await start('echo ready; exec sleep 300')).child;
    const asked = ask(pids);
    const ended = once(younger, 'exit');
    expect(await asked).toContain(younger.pid);
    process.kill(younger.pid!, 'SIGKILL');
    await ended;
    // What is asked later is not answered from that list.
    expect(pids()).not.toContain(younger.pid);
    expect(await ask(pids)).not.toContain(younger.pid);
    await expect(ask(() => Promise.reject(new Error('asked in vain')))).rejects.toThrow('in vain');
  });

  it('answers from a list that is already being made where that serves', async () => {
    const { ask, list } = processes;
    if (!isListedByProgram(processes)) return;
    const first = ask(list);
    // It has begun then.
    await new Promise(setImmediate);
    const asked = await Promise.all([first, ask(list, 'begun'), ask(list)]);
    const [made, shared, later] = asked.map((entries) => entries.find(({ pid }) => pid === process.pid));
    expect(shared).toBe(made);
    expect(later).not.toBe(made);
  });

  it('answers from a list that was begun since some moment, where there is one', async () => {
    const { ask, list } = processes;
    if (!isListedByProgram(processes)) return;
    const before = performance.now();
    const made = await ask(list);
    const after = performance.now();
    const pick = (entries: typeof made) => entries.find(({ pid }) => pid === process.pid);
    expect(pick(await ask(list, before))).toBe(pick(made));
    const [running, later, newest] = [ask(list, after), ask(list, after), ask(list, Infinity)];
    expect(pick(await running)).not.toBe(pick(made));
    expect([pick(await later), pick(await newest)]).toEqual([pick(await running), pick(await running)]);
  });

  it('reads a process from what it knows already, if that is not too old', async () => {
    const before = performance.now();
    const { child } = await start('echo ready; exec sleep 300');
    processes.list();
    expect(processes.readCheaply(child.pid!, before)).toMatchObject({ pid: child.pid, parent: process.pid });
    expect(processes.readCheaply(NO_PID, before)).toBeUndefined();
    if (isListedByProgram(processes)) expect(processes.readCheaply(child.pid!, performance.now())).toBeUndefined();
    expect(isListedByProgram(processes)).toBe(platform === posix);
  });

  it('tells when another program has replaced one', async () => {
    const { child } = await start('echo ready; read _ </dev/null; kill -STOP $$; exec sleep 300');
    const { pid } = child;
    processes.followProgram(pid!);
    await eventually(() => {
      expect(processes.readNow(pid!)?.state).toBe('T');
    });
    const first = processes.programOf(pid!);
    expect(first).toBeDefined();
    processes.readNow(pid!);
    expect(processes.programOf(pid!)).toBe(first);
    child.kill('SIGCONT');
    await eventually(() => {
      expect(processes.commandLine({ pid: pid!, name: '' })).toBe('sleep 300');
    });
    processes.readNow(pid!);
    expect([undefined, first]).not.toContain(processes.programOf(pid!));
  });

  it('finds the ports on which processes listen', async () => {
    const { listening } = platform;
    const { server, port } = await listen();
    try {
      const ports = await listening.portsOf([process.pid, NO_PID]);
      expect(ports).toContainEqual({ port, address: '127.0.0.1', pid: process.pid });
      expect(await listening.isTaken(port, process.pid)).toBe(true);
      expect(listening.networkOf(process.pid)).toBeDefined();
    } finally {
      await close(server);
    }
    expect((await listening.portsOf([process.pid])).map((each) => each.port)).not.toContain(port);
    expect(await listening.isTaken(port, process.pid)).toBe(false);
    expect(await listening.portsOf([])).toEqual([]);
  });

  it('reads what the machine is used for', async () => {
    const machine = platform.openMachine();
    await machine.refresh();
    const { cpu, cpus, load1, memory, net } = machine.read();
    expect(cpu!.total).toBeGreaterThan(cpu!.busy);
    expect(cpus).toBeGreaterThan(0);
    expect(load1).toBeGreaterThanOrEqual(0);
    expect(memory.total).toBeGreaterThan(memory.used);
    expect(memory.used).toBeGreaterThan(0);
    expect(Math.min(net.received, net.sent)).toBeGreaterThanOrEqual(0);
    await eventually(() => {
      expect(machine.read().cpu!.total).toBeGreaterThan(cpu!.total);
    });
  });

  describe('locks', () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'shell-adapter-lock-'));
    });
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });

    it.each(PLATFORMS)('are respected by a daemon on the platform $name', (other) => {
      const file = join(folder, other.name);
      expect(tryLock(file, platform)).toBeUndefined();
      expect(tryLock(file, other)).toEqual({ pid: process.pid });
      unlock(file);
    });

    it('that cannot be read are an error', () => {
      const file = join(folder, 'directory');
      mkdirSync(file);
      expect(() => tryLock(file, platform)).toThrow('EISDIR');
    });

    it('are taken from an owner that was killed before it had written its name', () => {
      const file = join(folder, 'unnamed');
      writeFileSync(file, '');
      const longAgo = new Date(Date.now() - 5000);
      utimesSync(file, longAgo, longAgo);
      expect(tryLock(file, platform)).toBeUndefined();
      unlock(file);
    });
  });
});

describe('the choice', () => {
  it.each([
    ['auto', 'linux'],
    ['linux', 'linux'],
    ['posix', 'posix'],
  ] as const)('%s is %s here', (wanted, name) => {
    expect(choosePlatform(wanted).name).toBe(name);
  });

  it('posix claims nothing that it does not have', () => {
    expect(new Set(Object.values(posix.can))).toEqual(new Set([false]));
    expect(new Set(Object.values(linux.can))).toEqual(new Set([true]));
  });
});
