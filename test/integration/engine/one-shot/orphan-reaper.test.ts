import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { OrphanReaper } from '../../../../src/engine/one-shot/orphan-reaper.js';
import { TAG_VARIABLE } from '../../../../src/engine/platform/platform.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { markOf } from '../../../../src/engine/process/session-mark.js';

const INSTANCE = `reaper${process.pid}`;
const STARTER = `${INSTANCE}.starter`;
const SWEEPS = 50;

/** Keeps starting programs, as the process starter does, and prints the signals that have ended some. */
const START_PROGRAMS = `
  const { spawn } = require('node:child_process');
  const env = { ${TAG_VARIABLE}: '${INSTANCE}.program.0' };
  const next = () => spawn('/bin/sleep', ['0.02'], { env, detached: true }).on('exit', (code, signal) => {
    if (signal) console.log(signal);
    next();
  });
  for (let beside = 0; beside < 8; beside += 1) next();
  console.log('started');
`;
/** A program that has cleared its environment: only the mark is left. */
const WITHOUT_ENVIRONMENT = "exec env -i /bin/sh -c 'echo started; exec /bin/sleep 300'";

let children: ChildProcess[];

beforeEach(() => {
  children = [];
});

afterEach(async () => {
  const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const exits = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(exits);
});

/** Starts a program with the mark of the starter; returns the lines that it prints after its first one. */
async function startMarked(script: string, ...args: readonly string[]) {
  const marked = `ulimit -S -x "$1"; shift; ${script}`;
  const child = spawn('/bin/bash', ['-c', marked, 'bash', markOf(STARTER), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, [TAG_VARIABLE]: `${STARTER}.0` },
  });
  children.push(child);
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  await once(output, 'line');
  return { child, lines };
}

const ignore = () => undefined;
const QUIET = { error: ignore, warn: ignore, info: ignore, debug: ignore };

async function sweep(times: number): Promise<void> {
  const identity = { runtime: { instance: INSTANCE }, starter: { tag: STARTER } };
  const options = { platform: linux, ...identity, killGraceMs: 1000, log: QUIET };
  for (let time = 0; time < times; time += 1) {
    const reaper = new OrphanReaper(options, () => true);
    const group = { members: () => [], [Symbol.dispose]: () => undefined };
    // A process group that does not exist.
    reaper.end({ pid: 0x7ffffff0, tag: `${INSTANCE}.ended`, isIsolated: false, group: group as never });
    await reaper[Symbol.asyncDispose]();
  }
}

it('ends a process that has cleared its environment', async () => {
  const { child } = await startMarked(WITHOUT_ENVIRONMENT);
  const exit = once(child, 'exit');
  await sweep(1);
  expect(await exit).toEqual([null, 'SIGTERM']);
});

it('ends none that is just being started, whose environment the kernel does not show yet', async () => {
  const { lines } = await startMarked('exec "$@"', process.execPath, '-e', START_PROGRAMS);
  await sweep(SWEEPS);
  expect(lines).toEqual(['started']);
});
