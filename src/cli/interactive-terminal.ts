import { spawnSync } from 'node:child_process';

import type { ClientCommand, ClientSession } from '../client.js';
import type { Context } from './context.js';

/** Ctrl-], as telnet has it: no program of today uses it, and a command that hangs must not hold its terminal. */
const LEAVE_KEY = '\x1d';

/** A terminal that is connected to a command. */
export interface ConnectedTerminal extends AsyncDisposable {
  /** Resolves when the person at the terminal has left the command. */
  readonly left: Promise<void>;
}

/**
 * Node's raw mode still makes `\r\n` of every `\n`, which the command's own terminal has done already, or has been told
 * not to do. Leaving raw mode takes this back too.
 */
function passOutputAsItIs(): void {
  // Without stty(1) there is a superfluous carriage return at the end of each line.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
}

/** Sends every key to the command, and the size of the terminal to its session, until it is disposed. */
export function connectTerminal(
  { stdin, stdout }: Pick<Context, 'stdin' | 'stdout'>,
  session: ClientSession,
  command: ClientCommand,
): ConnectedTerminal {
  let leave!: () => void;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  // What is typed after the command's end is for nobody, and so is the failure to deliver it.
  let sent: Promise<unknown> = Promise.resolve();
  const onKeys = (keys: string) => {
    if (keys.includes(LEAVE_KEY)) leave();
    else sent = sent.then(() => command.sendInput(keys)).catch(() => undefined);
  };
  const resize = () => {
    const { columns, rows } = stdout.size ?? {};
    if (columns !== undefined && rows !== undefined) session.resize(columns, rows).catch(() => undefined);
  };
  stdin.setRawMode(true);
  passOutputAsItIs();
  stdin.setEncoding('utf8');
  stdin.on('data', onKeys);
  stdin.resume();
  const resizing = stdout.onResize(resize);
  resize();
  return {
    left,
    [Symbol.asyncDispose]: async () => {
      stdin.off('data', onKeys);
      stdin.pause();
      stdin.setRawMode(false);
      resizing[Symbol.dispose]();
      await sent;
    },
  };
}
