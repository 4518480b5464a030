import { expect } from 'vitest';

import type { TrapContext } from './context.js';
import { oneOf, runWhile, type Expectation, type Trap } from './table.js';

/** What a command interrupted by a client gives. */
export const INTERRUPTED: Expectation = { exit_code: 130, status: 'interrupted', killed_by: oneOf('signal', null) };

/** Interrupts the command once it has printed `go`. */
export const interrupt = async (trap: TrapContext) => {
  await trap.output('go\n');
  const answer = await trap.signal('SIGINT');
  expect(answer.error).toBeUndefined();
};

/** A row in which one interrupt ends a whole command. */
export const interrupted = (id: string, command: string): Trap => ({
  id,
  title: `one interrupt ends all of: ${command}`,
  steps: [
    runWhile(`echo go; ${command}`, interrupt, {
      ...INTERRUPTED,
      stdout: 'go\n',
    }),
  ],
});

/** Types a text once the command waits for input. */
export const keys = (text: string) => async (trap: TrapContext) => {
  await trap.awaitInput();
  await trap.input(text);
};
