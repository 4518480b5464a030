import { spawnSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { runCampaign } from '../campaign/campaign.js';
import { asJson } from '../campaign/corpus.js';
import { CAMPAIGN_MS, MARGIN_MS } from '../campaign/settings.js';
import { type Outcome, runDirectly } from './direct-run.js';
import { type Program, programs } from './program.js';
import { SessionRuns } from './session-run.js';

const hasShell = new Map(
  (['bash', 'zsh', 'sh'] as const).map((shell) => [shell, spawnSync(shell, ['-c', ':']).error === undefined]),
);

/** What an earlier program of a session may have left is as in a new shell. */
const FRESH = 'unset x y i; set --; :';

/** As a terminal shows it: a newline becomes two characters. */
const onTerminal = (output: Buffer): Buffer =>
  Buffer.from(output.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');

/** Whether two exit codes mean the same: `-c` and `eval` have different ones for a text that does not parse. */
const isSameCode = ({ shell, text }: Program, expected: number, given: number): boolean =>
  given === expected || (expected !== 0 && given !== 0 && spawnSync(shell, ['-n', '-c', text]).status !== 0);

const shown = ({ stdout, exitCode }: Outcome): string =>
  JSON.stringify({ exitCode, stdout: stdout.toString('latin1').slice(0, 300), bytes: stdout.length });

test(
  'drivers: a session gives the same output and exit code as the shell alone',
  async () => {
    await using sessions = await SessionRuns.start();
    const check = async (given: Program) => {
      if (hasShell.get(given.shell) !== true) return;
      const program = { ...given, text: `${FRESH}\n${given.text}` };
      const [here, there] = await Promise.all([runDirectly(program, sessions.directory), sessions.run(program)]);
      const expected = { ...here, stdout: program.tty ? onTerminal(here.stdout) : here.stdout };
      if (isSameCode(given, expected.exitCode, there.exitCode) && there.stdout.equals(expected.stdout)) return;
      throw new Error(`${program.shell} gives ${shown(expected)}, the session ${shown(there)} for:\n${program.text}`);
    };
    const inputs = programs.filter(({ shell }) => hasShell.get(shell) === true);
    expect(await runCampaign({ name: 'drivers', form: asJson<Program>(), inputs, check })).toBeGreaterThan(0);
  },
  CAMPAIGN_MS + MARGIN_MS,
);
