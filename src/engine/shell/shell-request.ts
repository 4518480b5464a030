import type { Command } from '../command/command.js';
import type { Shell, SurroundingText } from '../shells/shell.js';
import type { CommandPipes } from './pipe-pool.js';
import type { StdinPipe } from '../output/stdin-pipe.js';

/** TERM of a command with its own terminal. */
const TTY_TERM = 'xterm-256color';

/** A request to the driver. */
export interface ShellRequest {
  readonly slot: CommandPipes;
  readonly text: string;
  /** Number of the command in its session; part of the tag of its processes. */
  readonly number: number;
  readonly stdin?: string | StdinPipe | undefined;
  readonly isOnTerminal: boolean;
  readonly surroundings?: SurroundingText | undefined;
}

/** Returns the driver request of a command. */
export function requestFor(command: Command, shell: Shell, slot: CommandPipes, number: number): ShellRequest {
  const { tty, env: own, cwd, stdinPipe, stdin = stdinPipe } = command.spec;
  const env = tty ? { TERM: TTY_TERM, ...own } : own;
  const text = command.textFor(shell);
  const steps = shell.stepsBefore?.(text) ?? [];
  const isSurrounded = env || cwd !== undefined || steps.length > 0;
  const surroundings = isSurrounded ? shell.surround({ env, cwd, steps }) : undefined;
  return { slot, text, number, stdin, isOnTerminal: tty, surroundings };
}
