// What runs: the daemon and the floor, each a process of its own, and a Socket.IO client for each.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { io } from 'socket.io-client';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Starts a program that prints `listening on URL`, and connects to it, unless it takes no clients. */
async function start(args, takesClients = true) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /listening on (\S+)/.exec(output);
      if (found) resolve(found[1]);
    });
    child.on('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
  });
  const socket = io(url, { transports: ['websocket'], autoConnect: takesClients });
  return {
    pid: child.pid,
    url,
    request: requester(socket),
    /** Another client. */
    connect: async () => {
      const other = io(url, { transports: ['websocket'], forceNew: true });
      return { request: requester(other), disconnect: () => other.disconnect() };
    },
    ownCpuUs: () => cpuUsOf(child.pid),
    /** CPU time so far of the process and of those that it has started and that still run, in microseconds. */
    cpuUs: () => familyOf(child.pid).reduce((sum, pid) => sum + cpuUsOf(pid), 0),
    residentMiB: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024,
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    async stop() {
      socket.disconnect();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function requester(socket) {
  return async (name, payload = {}) => {
    const answer = await socket.emitWithAck(name, payload);
    if (answer.error) throw new Error(`${name}: ${answer.error.message}`);
    return answer;
  };
}

/** CPU time of all threads of a process, in microseconds. Unlike /proc/PID/stat, it does not count in clock ticks. */
const cpuUsOf = (pid) => threadsOf(pid, 'schedstat').reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1000;

function familyOf(pid) {
  const children = threadsOf(pid, 'children').flatMap((text) => text.split(' ').filter(Boolean).map(Number));
  return [pid, ...children.flatMap(familyOf)];
}

/** A file of each thread of a process; none of one that has just ended. */
function threadsOf(pid, file) {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'latin1'),
    );
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return [];
    throw error;
  }
}

/** The barest relay. */
export const startFloor = () => start([here('floor-relay.mjs')]);

/**
 * The built daemon, configured as shipped but in a folder of its own: with further lines of YAML, and more keys of `adapter`.
 * @param options `dist` is the folder of the build; `logLevel` is that of what it writes beside the results
 */
export async function startDaemon({
  sections = '',
  settings = {},
  takesClients = true,
  dist = here('../dist'),
  logLevel = 'warning',
} = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-bench-'));
  const config = join(directory, 'config.yaml');
  const keys = { workspace_directory: directory, state_directory: `${directory}/state`, ...settings };
  const lines = Object.entries(keys).map(([key, value]) => `  ${key}: ${value}\n`);
  const adapter = `adapter:\n${lines.join('')}`;
  writeFileSync(
    config,
    `${adapter}logging:\n  log_file_path: ${directory}/log\n  logging_level: ${logLevel}\n${sections}`,
  );
  const daemon = await start([join(dist, 'main.js'), 'serve', '--config', config, '--port', '0'], takesClients);
  return {
    ...daemon,
    async stop() {
      await daemon.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
