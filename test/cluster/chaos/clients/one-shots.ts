import { setTimeout as sleep } from 'node:timers/promises';

import type { ClientOptions } from './client-options.js';
import { CommandSender } from './commands.js';
import { Line } from './line.js';

/** Longest pause between two commands, in milliseconds. */
const PAUSE_MS = 600;
/** Longest time that a command takes, in seconds. */
const COMMAND_S = 0.5;

/** Runs commands without a session, each with an id of its own. */
export async function runOneShots(options: ClientOptions): Promise<void> {
  const { random, signal, fail } = options;
  await using line = new Line(options);
  const commands = new CommandSender(options, line);
  while (!signal.aborted) {
    const id = commands.nextId();
    const takes = (random() * COMMAND_S).toFixed(2);
    const { answer } = await commands.run(id, `sleep ${takes}; echo ${id}`);
    if (answer && answer.stdout !== `${id}\n`) fail(`${id} has printed ${JSON.stringify(answer.stdout)}`);
    await sleep(random() * PAUSE_MS);
  }
}
