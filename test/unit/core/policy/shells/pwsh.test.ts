import { expect, it } from 'vitest';

import { readSavedState } from '../../../../../src/core/policy/words/saved-state.js';
import { verdictOn } from '../support.js';

const actionOn = (command: string, args?: readonly string[]): string => {
  const { action, class: commandClass } = verdictOn({ command, args }, { shell: 'pwsh' });
  return `${action} ${commandClass}`;
};

it.each(['ls', 'del build', "Get-Content 'a'", 'Remove-Item -Recurse build', 'iex $x', '1 + 1'])(
  'a text for PowerShell asks: %s',
  (command) => {
    expect(actionOn(command)).toBe('confirm obfuscated');
  },
);

it.each(['rm -rf /', "if ($true) { 'x' }; rm -rf /"])(
  'a catastrophe in a text for PowerShell is denied: %s',
  (command) => {
    expect(actionOn(command)).toMatch(/^deny/);
  },
);

it('a program with arguments is judged as in every shell', () => {
  expect(actionOn('ls', ['-la'])).toBe('allow read');
  expect(actionOn('rm', ['-rf', 'build'])).toMatch(/destructive/);
});

it('the names of a session of pwsh are read from its state', () => {
  const state = '#names\n#variable PATH %2Fusr%2Fbin\n#function hi\n__sa_export a b\n#end\n';
  const { variables, functions, isIncomplete } = readSavedState(state, 'pwsh');
  expect([variables.get('PATH'), [...functions.keys()], isIncomplete]).toEqual(['/usr/bin', ['hi'], false]);
});
