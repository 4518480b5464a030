import type { Command } from '../command/command.js';
import type { Shell, SurroundingText } from '../shells/shell.js';
import type { CommandPipes } from './pipe-pool.js';
import type { StdinPipe } from '../output/stdin-pipe.js';

/** Terminal of a command that has one to itself. */
const TTY_TERM = 'xterm-256color';

/** What is handed to the driver. */
export interface ShellRequest {
  readonly slot: CommandPipes;
  readonly text: string;
  /** Counts the session's commands; part of their processes' tag. */
  readonly number: number;
  readonly stdin?: string | StdinPipe | undefined;
  readonly isOnTerminal: boolean;
  readonly surroundings?: SurroundingText | undefined;
}

/** What the driver needs to know of a command. */
export function requestFor(command: Command, shell: Shell, slot: CommandPipes, number: number): ShellRequest {
  const { tty, env: own, cwd, stdinPipe, stdin = stdinPipe } = command.spec;
  const env = tty ? { TERM: TTY_TERM, ...own } : own;
  const surroundings = env || cwd !== undefined ? shell.surround({ env, cwd }) : undefined;
  return { slot, text: command.shellText, number, stdin, isOnTerminal: tty, surroundings };
}
