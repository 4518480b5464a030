import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { ProcessLaunch } from '../../engine/platform/linux/process-table.js';
import type { Context } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { probeDaemon } from '../connect/with-daemon.js';

/** Time-out of starting a daemon, in milliseconds: a busy machine needs less. */
const START_MS = 30_000;

/** Interval of probes for a daemon that another process is starting, in milliseconds. */
const PROBE_PAUSE_MS = 200;

/** Path of this program's main module. */
export const MAIN = fileURLToPath(new URL('../../main.js', import.meta.url));

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
  const daemon = new BackgroundDaemon({ file: process.execPath, args, cwd, env });
  try {
    const answers = await until(START_MS, async () => {
      const ended = await Promise.race([daemon.ended, pause(PROBE_PAUSE_MS)]);
      if (await probeDaemon(url)) return true;
      return ended === 'ended' ? false : undefined;
    });
    if (answers !== true) throw failed(`no daemon came up at ${url}`, daemon.output);
  } finally {
    daemon.release();
  }
}

/**
 * Starts a daemon that outlives this process, and waits until it listens.
 * @returns its address
 * @throws CommandLineError when it does not start, with its output
 */
export async function startInBackground(launch: ProcessLaunch): Promise<string> {
  const daemon = new BackgroundDaemon(launch);
  try {
    const url = await Promise.race([daemon.listening, daemon.ended, pause(START_MS)]);
    if (url === undefined || url === 'ended') throw failed('the daemon did not come up', daemon.output);
    return url;
  } finally {
    daemon.release();
  }
}

/** A daemon that is started in the background, with what it prints until it is released. */
class BackgroundDaemon {
  /** Resolves with its address when it says that it listens. */
  readonly listening: Promise<string>;
  /** Resolves when it has ended, or could not be started. */
  readonly ended: Promise<'ended'>;
  readonly #child: ChildProcess;
  #output = '';
  #onOutput: () => void = () => undefined;

  constructor({ file, args, cwd, env }: Omit<ProcessLaunch, 'env'> & { readonly env: NodeJS.ProcessEnv }) {
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const take = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-MAX_OUTPUT);
      this.#onOutput();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    this.listening = new Promise((resolve) => {
      this.#onOutput = () => {
        const [, url] = /^listening on (\S+)$/m.exec(this.#output) ?? [];
        if (url !== undefined) resolve(url);
      };
    });
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        take(Buffer.from(error.message));
        resolve('ended');
      });
      child.once('close', () => {
        resolve('ended');
      });
    });
  }

  /** What it has printed last. */
  get output(): string {
    return this.#output.trim();
  }

  /** Lets it go on alone: its output is not read from here on, which the daemon tolerates. */
  release(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref();
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

const pause = (ms: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, undefined).unref();
  });

const failed = (what: string, output: string): CommandLineError =>
  new CommandLineError(`${what}${output === '' ? '' : `; it said: ${output}`}`, {
    hint: '`shell-adapter serve` shows what is wrong.',
  });
