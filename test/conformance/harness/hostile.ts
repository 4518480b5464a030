import { expect } from 'vitest';

import type { DaemonOptions } from '../../support/daemon.js';
import { oneOf, run, type Expectation, type Step, type Trap } from './table.js';

/**
 * Daemons of the hostile rows end what no longer answers soon. `wedge_timeout` is the shipped one: on a full machine, a shell may need more
 * than a second to save its state.
 */
export const HASTY: DaemonOptions = { settings: { adapter: { kill_grace: 0.5 } } };
/** How long it may take to replace a shell: to notice it, `wedge_timeout`, `kill_grace`. */
const WEDGE_MS = 5500;

const anyNumber = expect.any(Number) as number;

/** What a command may give that is out to break its shell: anything, in time. */
const ANYTHING: Expectation = {
  stdout: /^/,
  stderr: /^/,
  exit_code: anyNumber,
  status: oneOf('completed', 'killed', 'interrupted'),
  killed_by: oneOf(null, 'signal'),
  session_state: oneOf('alive', 'restarted'),
  background: 'any',
  takesMs: WEDGE_MS,
};

/** A command of which only the after-effects matter. */
export const disturb = (command: Step['command']): Step => run(command, ANYTHING);

/** The next command answers exactly, behind a new shell if need be. A program: `echo` may be the user's own by now. */
export const stillWorks = (word = 'ok'): Step =>
  run(`/bin/echo ${word}`, {
    stdout: `${word}\n`,
    session_state: oneOf('alive', 'restarted'),
    takesMs: WEDGE_MS,
  });

/**
 * A row in which commands disturb the shell; by default it has to bear it without being replaced. With `losesNext` the
 * damage only shows with the next command, which is answered but lost.
 */
export const survives = (
  id: string,
  title: string,
  commands: readonly string[],
  { losesNext = false, ...more }: Pick<Trap, 'restarts' | 'knownFault'> & { readonly losesNext?: boolean } = {},
): Trap => ({
  id,
  title,
  ...more,
  probe: stillWorks,
  steps: commands.flatMap((command) => [disturb(command), ...(losesNext ? [disturb('true')] : []), stillWorks()]),
});
