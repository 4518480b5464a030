// What nodes of a cluster cost one Redis: `node bench/cluster.mjs`. Nodes are those of the daemon as far as Redis sees them: leases, beats,
// sessions, and what gateways read; they run nothing. It prints tables for docs/operate/scale.md, and never fails on a number. Build first.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Redis } from 'ioredis';

import { SharedPlaces } from '../dist/cluster/places.js';
import { connectRegistry, LEASE_MS, log, SESSIONS_EACH } from './cluster/registry.mjs';

/** Processes that the nodes are divided among. */
const PROCESSES = 2;
/** How long is measured, in milliseconds: some beats of each node. */
const WINDOW_MS = 12_000;
/** Pause between two sessions that are placed, in milliseconds. */
const PLACE_PAUSE_MS = 20;
/** How long sessions are placed while the nodes are frozen, in milliseconds: their leases last longer. */
const FROZEN_MS = 2500;
/** Nodes, and how many of them are gateways, which read all nodes with each beat; all of them read where all are equal. */
const ROUNDS = [
  { kind: 'gateways and workers', nodes: 10, readers: 2 },
  { kind: 'gateways and workers', nodes: 100, readers: 2 },
  { kind: 'gateways and workers', nodes: 1000, readers: 2 },
  { kind: 'gateways and workers', nodes: 1000, readers: 20 },
  { kind: 'all read', nodes: 10, readers: 10 },
  { kind: 'all read', nodes: 100, readers: 100 },
];

/** Starts a Redis in memory on a free port. */
async function startRedis() {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address();
  await new Promise((resolve) => holder.close(resolve));
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-bench-'));
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory];
  const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept')) break;
  child.stdout.resume();
  const stop = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(directory, { recursive: true, force: true });
  };
  return { url: `redis://127.0.0.1:${port}/0`, stop };
}

/** What Redis has counted so far. */
async function statistics(redis) {
  const text = await redis.info();
  const of = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]);
  return {
    cpuMs: 1000 * (of('used_cpu_sys') + of('used_cpu_user')),
    commands: of('total_commands_processed'),
    bytesIn: of('total_net_input_bytes'),
    bytesOut: of('total_net_output_bytes'),
    memory: of('used_memory'),
  };
}

/** Starts the nodes, divided among processes; resolves when all have joined. */
async function startNodes(url, { nodes, readers }) {
  const file = fileURLToPath(new URL('cluster/nodes.mjs', import.meta.url));
  const children = Array.from({ length: PROCESSES }, (_, index) => {
    const numbers = Array.from({ length: nodes }, (_, number) => number).filter((n) => n % PROCESSES === index);
    return fork(file, [JSON.stringify({ url, numbers, nodes, readers })]);
  });
  const messages = (name) => Promise.all(children.map(async (child) => (await once(child, 'message'))[0][name]));
  await messages('joined');
  return {
    begin: () => children.forEach((child) => child.send('begin')),
    freeze: () => children.forEach((child) => child.kill('SIGSTOP')),
    report: () => {
      children.forEach((child) => child.send('report'));
      return messages('beats');
    },
    stop: async () => {
      const exits = children.map((child) => once(child, 'exit'));
      children.forEach((child) => child.kill('SIGKILL'));
      await Promise.all(exits);
    },
  };
}

/** Nodes as a gateway knows them by their leases. */
function nodesOf({ nodes }) {
  const workers = [...nodes.values()].filter(({ url }) => url !== null);
  return workers.map(({ node: name, incarnation, labels, sessions, one_shots: oneShots, capacity }) => {
    const about = { name, nodeId: `${name}-${incarnation}`, labels, capacity, load: sessions + oneShots };
    return { ...about, isLive: true, isDraining: false };
  });
}

/**
 * Places sessions as a gateway does, and looks nodes up, for a time; gives how long each has taken.
 * @param pauseMs between two sessions
 */
async function placeFor(ms, url, pauseMs) {
  const { registry, connection } = await connectRegistry(url);
  const places = new SharedPlaces(registry, 'gateway', () => 100_000, log);
  const times = { reserve: [], find: [], read: [] };
  const timed = async (kind, work) => {
    const start = performance.now();
    const value = await work();
    times[kind].push(performance.now() - start);
    return value;
  };
  const end = performance.now() + ms;
  let nodes = nodesOf(await timed('read', () => registry.read()));
  for (let count = 0; performance.now() < end; count++) {
    const principal = { id: `owner-${count % 50}`, name: 'owner', role: 'agent', isLocalPeer: false };
    const wish = { nodes, preferred: undefined, labels: {}, principal, whyNone: () => 'all are full' };
    let place;
    // An answer without the session gives the place back.
    const take = (node) => ((place = node), Promise.resolve({ reply: {}, isRecorded: true }));
    await timed('reserve', () => places.open(wish, take));
    place.load += 1;
    await timed('find', () => registry.find(nodes[count % nodes.length].name));
    if (count % 10 === 0) nodes = nodesOf(await timed('read', () => registry.read()));
    if (pauseMs > 0) await sleep(pauseMs);
  }
  await connection[Symbol.asyncDispose]();
  return times;
}

const at = (times, share) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];
const both = (times) => `${at(times, 0.5).toFixed(2)} / ${at(times, 0.99).toFixed(2)}`;

async function measure(round) {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const empty = await statistics(redis);
  const nodes = await startNodes(server.url, round);
  await sleep(LEASE_MS / 3);
  // The cost of the nodes alone, and then what placing takes beside them.
  nodes.begin();
  const before = await statistics(redis);
  await sleep(WINDOW_MS);
  const after = await statistics(redis);
  const beats = (await nodes.report()).flat();
  const times = await placeFor(WINDOW_MS / 2, server.url, PLACE_PAUSE_MS);
  // Beats cost more than places do, so that these are measured without them, too.
  nodes.freeze();
  const quiet = await statistics(redis);
  const alone = await placeFor(FROZEN_MS, server.url, 0);
  const busyMs = (await statistics(redis)).cpuMs - quiet.cpuMs;
  const per = (field) => (after[field] - before[field]) / (WINDOW_MS / 1000);
  await nodes.stop();
  redis.disconnect();
  await server.stop();
  return {
    ...round,
    cpu: per('cpuMs') / 10,
    commands: per('commands'),
    kilobytes: (per('bytesIn') + per('bytesOut')) / 1000,
    memoryKb: (after.memory - empty.memory) / 1000,
    beat: both(beats),
    read: both(times.read),
    reserve: both(times.reserve),
    find: both(times.find),
    placeMs: busyMs / alone.reserve.length,
  };
}

const results = [];
for (const round of ROUNDS) {
  process.stderr.write(`${round.nodes} nodes, ${round.readers} of which read all\n`);
  results.push(await measure(round));
}
const row = (cells) => `| ${cells.join(' | ')} |`;
const table = (head, cellsOf) =>
  [row(head), row(head.map(() => '---:')), ...results.map((result) => row(cellsOf(result)))].join('\n');
process.stdout.write(`${SESSIONS_EACH} sessions on each worker, a beat each ${LEASE_MS / 3000} s\n\n`);
process.stdout.write(
  `${table(['nodes', 'of which read', 'CPU of Redis', 'commands/s', 'kB/s', 'memory'], (r) => [r.nodes, r.readers, `${r.cpu.toFixed(1)} %`, r.commands.toFixed(0), r.kilobytes.toFixed(0), `${(r.memoryKb / 1000).toFixed(1)} MB`])}\n\n`,
);
process.stdout.write(
  `${table(['nodes', 'of which read', 'beat', 'read', 'reserve', 'find', 'CPU of a place'], (r) => [r.nodes, r.readers, r.beat, r.read, r.reserve, r.find, `${r.placeMs.toFixed(2)} ms`])}\n\n`,
);
process.stdout.write(
  `${table(['nodes', 'of which read', 'CPU', 'commands/s', 'kB/s', 'memory'], (r) => [r.nodes, r.readers, `${(r.cpu / r.nodes).toFixed(4)} %`, (r.commands / r.nodes).toFixed(2), (r.kilobytes / r.nodes).toFixed(2), `${(r.memoryKb / r.nodes).toFixed(1)} kB`])}\n`,
);
