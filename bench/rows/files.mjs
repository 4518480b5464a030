import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

import { inRounds } from '../measure.mjs';

const MIB = 1024 * 1024;
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Sends a request; resolves with the answer. */
function ask(url, method, body) {
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, agent: false }, resolve);
    asking.on('error', reject);
    if (!body) asking.end();
    else pipeline(body, asking).catch(reject);
  });
}

/** Reads an answer to its end without keeping it. */
async function count(response) {
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return bytes;
}

async function download(url, bytes) {
  const received = await count(await ask(url, 'GET'));
  if (received !== bytes) throw new Error(`${received} bytes have come, not ${bytes}`);
}

async function downloadTo(url, path) {
  await pipeline(await ask(url, 'GET'), createWriteStream(path));
}

async function upload(url, path) {
  const response = await ask(url, 'PUT', createReadStream(path));
  await count(response);
  if (response.statusCode >= 300) throw new Error(`the upload got ${response.statusCode}`);
}

function cp(args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, 'cp', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`cp ended with ${code}`))));
  });
}

/**
 * A row that copies a file of 1 GB. The floor is a bare HTTP server that copies it between the same disk and a socket of
 * the same kind; a ratio of 1.43 is 0.7 times its rate.
 * @param work gets the addresses of the file there, at the daemon and at the floor, and paths of two files here
 */
const row = (name, work) => ({
  name,
  target: 1.43,
  async run({ floor, daemon, short }) {
    const bytes = (short ? 16 : 954) * MIB;
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-copy-'));
    const file = join(directory, 'file');
    const copy = join(directory, 'copy');
    try {
      await fill(file, bytes);
      const at = (target, path) => `${target.url}/v1/files/${encodeURIComponent(path)}`;
      const places = { file, copy, bytes, daemon };
      const before = daemon.residentMiB();
      const { ours, bare } = work(places, at);
      const times = await inRounds({
        rounds: short ? 1 : 5,
        runs: 1,
        warmUp: 1,
        floor: () => bare(floor),
        ours: () => ours(daemon),
      });
      return { ...times, extra: `daemon grew by ${(daemon.residentMiB() - before).toFixed(1)} MiB (target 64)` };
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
});

async function fill(path, bytes) {
  const handle = await open(path, 'w');
  const piece = Buffer.alloc(MIB, 'shell-adapter ');
  for (let written = 0; written < bytes; written += MIB) await handle.write(piece);
  await handle.close();
}

const environment = ({ url }) => ({ ...process.env, SHELL_ADAPTER_URL: url });

/** Downloads: the daemon reads. */
export const httpDownload = row('1 GB down over HTTP', ({ file, bytes }, at) => {
  const get = (target) => download(at(target, file), bytes);
  return { ours: get, bare: get };
});

/** Uploads: the daemon writes. */
export const httpUpload = row('1 GB up over HTTP', ({ file, copy }, at) => {
  const put = (target) => upload(at(target, copy), file);
  return { ours: put, bare: put };
});

/** The command line, from the daemon. The floor writes the file, too. */
export const cpDown = row('1 GB down by cp', ({ file, copy }, at) => ({
  ours: (daemon) => cp([`:${file}`, copy], environment(daemon)),
  bare: (floor) => downloadTo(at(floor, file), copy),
}));

/** The command line, to the daemon. */
export const cpUp = row('1 GB up by cp', ({ file, copy }, at) => ({
  ours: (daemon) => cp([file, `:${copy}`], environment(daemon)),
  bare: (floor) => upload(at(floor, copy), file),
}));
