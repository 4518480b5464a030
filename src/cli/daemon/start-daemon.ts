import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { Context } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { probeDaemon } from '../connect/probe.js';

/** Time-out of starting a daemon, in milliseconds: a busy machine needs less. */
const START_MS = 30_000;

/** Interval of probes for a daemon that another process is starting, in milliseconds. */
const PROBE_PAUSE_MS = 200;

/** Path of this program's main module. */
const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));

/** Longest output of a daemon that is kept for an error message, in characters. */
const MAX_OUTPUT = 4000;

/**
 * Starts a daemon that outlives this process, unless one already answers. It logs to its log file only. When several
 * processes do this at the same time, one daemon gets the port, and all processes use it.
 * @param config value of `--config`, if given
 * @throws CommandLineError when no daemon starts, with its output
 */
export async function startDaemon(url: string, config: string | undefined, { env, cwd }: Context): Promise<void> {
  if (await probeDaemon(url)) return;
  const args = [MAIN, 'serve', '--no-example', ...(config === undefined ? [] : ['--config', config])];
  const child = spawn(process.execPath, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const take = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-MAX_OUTPUT);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const hasEnded = new Promise<'ended'>((resolve) => {
    child.once('error', (error) => {
      take(Buffer.from(error.message));
      resolve('ended');
    });
    child.once('close', () => {
      resolve('ended');
    });
  });
  try {
    const answers = await until(START_MS, async () => {
      const ended = await Promise.race([hasEnded, pause(PROBE_PAUSE_MS)]);
      if (await probeDaemon(url)) return true;
      return ended === 'ended' ? false : undefined;
    });
    if (answers !== true) throw failed(url, output);
  } finally {
    // Its output is not read from here on, which the daemon tolerates.
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }
}

/** Polls until there is a result; returns undefined on time-out. */
async function until<T>(ms: number, look: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const end = performance.now() + ms; performance.now() < end;) {
    const found = await look();
    if (found !== undefined) return found;
  }
  return undefined;
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

const failed = (url: string, output: string): CommandLineError =>
  new CommandLineError(`no daemon came up at ${url}${output === '' ? '' : `; it said: ${output.trim()}`}`, {
    hint: '`shell-adapter serve` shows what is wrong.',
  });
