// What limits cost, and how well they are kept: `node bench/limits.mjs`; with `--samples` the cost of samples alone.
// It never fails on a number: machines differ.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { LIMIT_MECHANISM_NAMES, MB } from '../dist/core/limits.js';
import { chooseMechanism } from '../dist/engine/limits/probe.js';
import { Slices } from '../dist/engine/process/process-snapshot.js';
import { linux } from '../dist/engine/platform/linux/linux.js';
import { NamespacePids } from '../dist/engine/process/find-processes.js';
import { LimitMonitor } from '../dist/services/limits/limit-monitor.js';
import { summarize } from './measure.mjs';
import { startDaemon } from './targets.mjs';

const IDLE_SESSIONS = 100;
const IDLE_MS = 10_000;
const SESSIONS = 20;
const PROCESSES = 50;
const FOREIGN_PROCESSES = 1000;
const SAMPLES = 100;
const LIMIT_MB = 200;

/** So high that nothing is ended, so that every figure is compared. */
const LIMITS = { cpu_percent: 1e6, cpu_seconds: 1e6, memory_mb: 1e5, processes: 1e5, disk_mb: 1e6 };
const CPU_WINDOW_MS = 10_000;

/** Takes more than the limit, at once or bit by bit. */
const HOGS = {
  'at once': "python3 -c 'import time; a = bytearray(600 * 2**20); time.sleep(9)'",
  'in steps of 1 MB': "python3 -c 'a = [bytearray(2**20) for i in range(600)]; import time; time.sleep(9)'",
};

async function idleShare() {
  const daemon = await startDaemon({
    settings: { max_sessions: IDLE_SESSIONS, memory_mb_limit: 500, process_limit: 100 },
  });
  for (let count = 0; count < IDLE_SESSIONS; count++) {
    const { session_id } = await daemon.request('open_session');
    await daemon.request('execute_command', { session_id, command: 'true' });
  }
  await sleep(2000);
  const before = daemon.cpuMs();
  await sleep(IDLE_MS);
  const share = (daemon.cpuMs() - before) / IDLE_MS;
  await daemon.stop();
  return share;
}

/** Starts a session's worth of processes in a group; some are busy, so that what they use changes. */
async function startSession(mechanism, number) {
  const tag = `bench-${process.pid}.${number}`;
  const group = mechanism.createGroup(tag, mechanism.namespace !== undefined);
  const text = `read _; sh -c 'while :; do sleep 0.1; done' & for i in $(seq ${PROCESSES - 3}); do sleep 300 & done; echo; wait`;
  const [file, ...args] = mechanism.namespace?.wrap({ command: ['sh', '-c', text], cwd: '/' }) ?? ['sh', '-c', text];
  const env = { ...process.env, SHELL_ADAPTER_TAG: `${tag}.0` };
  const shell = spawn(file, args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'], env });
  await once(shell, 'spawn');
  await group.begin(shell.pid, false);
  shell.stdin.write('\n');
  await once(shell.stdout, 'data');
  const end = async () => {
    process.kill(-shell.pid, 'SIGKILL');
    await once(shell, 'exit');
    group[Symbol.dispose]();
  };
  const numbers = new NamespacePids(() => undefined);
  return { watched: { group, limits: LIMITS, own: [shell.pid], running: undefined, numbers }, end };
}

/** Starts programs that belong to no session. */
async function startForeign() {
  const text = `for i in $(seq ${FOREIGN_PROCESSES}); do sleep 900 & done`;
  const shell = spawn('sh', ['-c', text], { detached: true, stdio: 'ignore' });
  // They are orphans then, not descendants of the benchmark.
  await once(shell, 'exit');
  return () => process.kill(-shell.pid, 'SIGKILL');
}

/** CPU time that one sample of all sessions takes, and the longest that a slice of it blocks the event loop, in ms. */
async function sampleTimes(mechanism, count) {
  const sessions = [];
  for (let number = 0; number < count; number++) sessions.push(await startSession(mechanism, number));
  const monitors = sessions.map(({ watched }) => new LimitMonitor(watched, {}, CPU_WINDOW_MS));
  for (const { watched } of sessions) watched.group.setLimits(LIMITS);
  const times = [];
  const blocks = [];
  for (let round = 0; round < SAMPLES; round++) {
    let longest = 0;
    let last = performance.now();
    let isOver = false;
    const turn = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const before = process.cpuUsage();
    const snapshot = await mechanism.sample();
    const slices = new Slices();
    for (const monitor of monitors) {
      if (slices.isOver) await slices.next();
      monitor.check(snapshot, undefined);
    }
    const { user, system } = process.cpuUsage(before);
    turn((isOver = true));
    times.push((user + system) / 1000);
    blocks.push(longest);
    await sleep(20);
  }
  await Promise.all(sessions.map(({ end }) => end()));
  return { cpu: summarize(times), block: summarize(blocks) };
}

async function overshoots(limit_mechanism) {
  const daemon = await startDaemon({ settings: { limit_mechanism } });
  const { session_id } = await daemon.request('open_session', { limits: { memory_mb: LIMIT_MB } });
  const found = {};
  for (const [how, command] of Object.entries(HOGS)) {
    const peaks = [];
    for (let run = 0; run < 5; run++) {
      const { killed_by, resource_usage } = await daemon.request('execute_command', { session_id, command });
      peaks.push(killed_by === 'memory' ? resource_usage.peak_memory_bytes / MB - LIMIT_MB : Infinity);
    }
    found[how] = Math.max(0, ...peaks);
  }
  await daemon.stop();
  return found;
}

const options = { instance: `bench-${process.pid}`, path: process.env.PATH, platform: linux };
const shown = ({ p50, p95 }) => `${p50.toFixed(1)} ms (p95 ${p95.toFixed(1)})`;

async function reportSamples(name, what, count) {
  const { mechanism } = chooseMechanism(name, options);
  const { cpu, block } = await sampleTimes(mechanism, count);
  await sleep(500);
  mechanism[Symbol.dispose]();
  console.log(`${name}: a sample of ${what}: ${shown(cpu)} of CPU time; blocks the event loop for ${shown(block)}`);
}

if (!process.argv.includes('--samples')) {
  console.log(`${IDLE_SESSIONS} idle sessions: ${((await idleShare()) * 100).toFixed(2)} % of a core (target < 1)`);
}
for (const name of LIMIT_MECHANISM_NAMES) {
  try {
    chooseMechanism(name, options).mechanism[Symbol.dispose]();
  } catch (error) {
    console.log(`${name}: not on this machine: ${error.message}`);
    continue;
  }
  await reportSamples(name, `${SESSIONS} sessions of ${PROCESSES} processes`, SESSIONS);
  const end = await startForeign();
  await reportSamples(name, `one session among ${FOREIGN_PROCESSES} other processes`, 1);
  end();
  if (process.argv.includes('--samples')) continue;
  for (const [how, mb] of Object.entries(await overshoots(name))) {
    console.log(`${name}: ${LIMIT_MB} MB exceeded ${how}, by at most ${mb.toFixed(0)} MB of 5 runs`);
  }
}
