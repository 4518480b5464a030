import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { Context } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { probeDaemon } from '../connect/probe.js';

/** How long a daemon may take to start, in milliseconds: more than a busy machine needs. */
const START_MS = 30_000;

/** Time between two looks whether a daemon answers that something else is starting, in milliseconds. */
const PROBE_PAUSE_MS = 200;

/** The program that this file belongs to. */
const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));

/** Longest output of a daemon that is kept for an error message, in characters. */
const MAX_OUTPUT = 4000;

/**
 * Starts a daemon that goes on when this process ends, unless one answers already. It logs to its log file alone. When several
 * processes do this at the same time, one daemon gets the port, and all of them use it.
 * @param config the value of `--config`, if it was given
 * @throws CommandLineError when no daemon comes up, with what it said
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
    // From now on nothing reads what it prints, which it does not mind.
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }
}

/** Looks again and again; gives what was found, or undefined when the time is over. */
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
