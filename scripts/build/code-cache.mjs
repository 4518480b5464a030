// Writes the code cache of the bundle: V8's compiled code of what a daemon and a first command run. The program works without one.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const RECORDER = fileURLToPath(new URL('record-code.mjs', import.meta.url));

/** The chunks that `exec` loads, and those that all other commands load, each in one file: that is read faster than dozens. */
export const PACKS = { exec: 'exec-pack.cjs', others: 'commands-pack.cjs' };

/** A daemon starts in a second. A machine that takes this long does without a cache. */
const TIMEOUT_MS = 60_000;

/**
 * Runs the help of the command line, a daemon with commands and a request of MCP, and the checkpoint worker; keeps their compiled code.
 * @param main The path of main.js.
 */
export async function writeCodeCache(main) {
  const bundle = join(dirname(main), 'bundle');
  const { codeCacheFolder } = await import(pathToFileURL(join(bundle, 'load-bundle.js')).href);
  const cache = codeCacheFolder(bundle);
  const home = mkdtempSync(join(tmpdir(), 'shell-adapter-build-'));
  const recorder = (options) => [RECORDER, JSON.stringify({ main, cache, ...options })];
  const writePack = async (name, run) => {
    const scratch = join(home, name);
    await run(recorder({ cache: scratch }));
    writeFileSync(join(bundle, name), pack(bundle, readdirSync(scratch)));
    await run(recorder({ pack: name }));
  };
  try {
    await writePack(PACKS.others, printHelp);
    await withDaemon(recorder({ pack: PACKS.others }), home, async (url) => {
      await writePack(PACKS.exec, (program) => runCommand(program, home, url));
      // Other commands load the client from files of its own.
      await runCommand(recorder({}), home, url);
      await listTools(url);
    });
    // It loads everything, and answers without doing anything.
    execFileSync(process.execPath, recorder({ entry: 'checkpoint-worker.cjs' }), {
      input: JSON.stringify({ job: { kind: 'none' }, options: {} }),
      timeout: TIMEOUT_MS,
    });
  } catch (error) {
    for (const path of [cache, ...Object.values(PACKS).map((name) => join(bundle, name))])
      rmSync(path, { recursive: true, force: true });
    console.error(`shell-adapter: built without a code cache, so that starts take longer: ${error.message}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function printHelp(program) {
  execFileSync(process.execPath, [...program, '--help'], { timeout: TIMEOUT_MS });
}

/** Writes chunks as one script, which gives them by their names. */
function pack(bundle, names) {
  const chunks = names.map((name) => {
    const code = readFileSync(join(bundle, name), 'latin1').replace(/;\s*$/, '');
    return `${JSON.stringify(name)}:${code}`;
  });
  return `({${chunks.join(',')}})`;
}

/** Calls `use` with the URL of a daemon that has its folders in `home`, and ends the daemon. */
async function withDaemon(program, home, use) {
  const config = join(home, 'config.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      adapter: { workspace_directory: join(home, 'workspace'), state_directory: join(home, 'state') },
      logging: { log_file_path: join(home, 'log') },
      socketio: { port: 0 },
    }),
  );
  const daemon = spawn(process.execPath, [...program, 'serve', '--config', config], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
  });
  const ended = once(daemon, 'exit');
  try {
    await use(await readUrl(daemon));
  } finally {
    daemon.kill('SIGTERM');
    await ended;
  }
}

/** Gives the URL on which a daemon listens. */
async function readUrl(daemon) {
  for await (const line of createInterface(daemon.stdout)) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('a daemon could not be started');
}

async function runCommand(program, home, url) {
  const config = join(home, 'config.yaml');
  const args = [...program, 'exec', '--no-stdin', '--config', config, '--url', url, 'true'];
  await promisify(execFile)(process.execPath, args, { timeout: TIMEOUT_MS });
}

/** The daemon loads the MCP library for it. */
async function listTools(url) {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`the daemon answers ${response.status} to a request of MCP`);
  await response.text();
}
