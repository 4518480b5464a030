import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { parseCast } from '../../core/recording/asciicast.js';
import { Timeline } from '../../core/recording/timeline.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { CommandLineError, messageOf } from '../console/failure.js';
import { downloadRecording } from './download.js';
import { Player } from './player.js';

/** Options of `replay`. */
export interface ReplayOptions extends DaemonOptions {
  readonly speed?: number;
  /** Longest pause, in seconds. */
  readonly idle?: number;
}

/** Form of the ids of recordings: anything else is a file. */
const RECORDING_ID = /^recording_[\w-]{22}$/u;

/** Modes of the keyboard, the mouse, pasting and margins that programs switch on: xterm's control sequences. */
const SWITCHED_OFF = [1, 6, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004].map((mode) => `\x1b[?${mode}l`).join('');
/**
 * Gives the terminal back as a shell expects it: a recording may end in the middle of a program. Leaves the alternate screen, and resets
 * what is set, by DECSTR, and one by one for terminals that lack it. Then to the last line, since the cursor may be anywhere.
 */
const RESTORE_SCREEN = `\x1b[?1049l\x1b[!p\x1b[4l\x1b[r\x1b(B\x1b[0m\x1b[?7h\x1b[?25h${SWITCHED_OFF}\x1b>\x1b[999;1H`;

/**
 * Plays a recording until its end, or until the person ends it.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function replayRecording(
  context: Context,
  source: string,
  { speed = 1, idle, ...options }: ReplayOptions,
): Promise<void> {
  const { stdin, stdout } = context;
  const timeline = await load(context, source, options, idle);
  const player = new Player(timeline, { speed, write: (text) => stdout.write(text) });
  const signals = context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
    player.stop();
  });
  void stdout.broken.then(() => {
    player.stop();
  });
  const hasKeys = stdin.isTTY && stdout.isTerminal;
  const onKeys = (keys: Buffer) => {
    player.press(keys.toString());
  };
  if (hasKeys) {
    stdin.setRawMode(true);
    stdin.on('data', onKeys).resume();
  }
  try {
    await player.play();
  } finally {
    signals[Symbol.dispose]();
    if (hasKeys) {
      stdin.off('data', onKeys).pause();
      stdin.setRawMode(false);
    }
    if (stdout.isTerminal) await stdout.write(`${RESTORE_SCREEN}\r\n`);
  }
}

async function load(
  context: Context,
  source: string,
  options: DaemonOptions,
  idle: number | undefined,
): Promise<Timeline> {
  const text = await read(context, source, options);
  try {
    return new Timeline(parseCast(text).events, idle === undefined ? undefined : idle * 1000);
  } catch (cause) {
    throw new CommandLineError(`${source} cannot be played: ${(cause as Error).message}`, { cause });
  }
}

async function read(context: Context, source: string, options: DaemonOptions): Promise<string> {
  if (RECORDING_ID.test(source)) {
    return withDaemon(options, context, async (client) => (await downloadRecording(client, source)).toString());
  }
  try {
    return await readFile(resolve(context.cwd, source), 'utf8');
  } catch (cause) {
    const hint = `It is neither the id of a recording nor a file: \`${context.programName} recordings\` lists the recordings.`;
    throw new CommandLineError(messageOf(cause as NodeJS.ErrnoException), { hint, cause });
  }
}
