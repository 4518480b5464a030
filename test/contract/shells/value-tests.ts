import { expect, test } from 'vitest';

import { readSavedState, readShownVariables } from '../../../src/core/policy/words/saved-state.js';
import type { ShellName } from './harness.js';
import type { TestSession } from './test-session.js';

const NAMES = ['plain', 'empty', 'lines', 'exported', 'list', 'none', 'forged'];
const SETTING = [
  'plain="it\'s $HOME;"; empty=""; lines="a\nb"; export exported=1; list=(a "b c")',
  'export EVIL="x\n#values plain\n#value plain 1 a"; forged="\n#value none 1 a"; set -u; setopt ksh_arrays 2>/dev/null; false',
].join('\n');

/** The values of variables that a shell shows when it is asked. */
export function valueTests(shell: ShellName, open: () => Promise<TestSession>): void {
  if (shell === 'sh') return;
  test('variables are shown with their values, exported or not, and restored by no state', async () => {
    await using session = await open();
    await session.run(SETTING.replace('$HOME', '\\$HOME'));
    const state = (await session.readState(NAMES)) ?? '';
    const shown = readShownVariables(state);
    expect([...(shown ?? [])].map(([name, { value }]) => [name, value])).toEqual([
      ['plain', "it's $HOME;"],
      ['empty', ''],
      ['lines', 'a\nb'],
      ['exported', '1'],
      ['list', 'a b c'],
      ['forged', '\n#value none 1 a'],
    ]);
    const names = readSavedState(state, shell);
    expect(names.isIncomplete).toBe(false);
    expect(names.variables.has('plain')).toBe(false);
    expect((await session.run('echo $?')).stdout).toBe('1\n');
  });
}
