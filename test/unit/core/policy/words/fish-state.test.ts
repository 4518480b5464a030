import { expect, it } from 'vitest';

import { readSavedState } from '../../../../../src/core/policy/words/saved-state.js';

const STATE = `#names
#variable PATH /usr/bin%3A/bin
#variable ODD a%0Ab%20c
#variable BYTES %ff
#variable EMPTY
#function ls
set -gx PATH /usr/bin /bin
function ls
#function forged
end
#end
`;

it('of fish names exported variables and functions, before its text', () => {
  const { variables, functions, aliases, isIncomplete } = readSavedState(STATE, 'fish');
  expect(Object.fromEntries(variables)).toEqual({ PATH: '/usr/bin:/bin', ODD: 'a\nb c', BYTES: '%ff', EMPTY: '' });
  expect([...functions.keys()]).toEqual(['ls']);
  expect({ aliases: aliases.size, isIncomplete }).toEqual({ aliases: 0, isIncomplete: false });
});

it('of fish without names is incomplete', () => {
  expect(readSavedState('set -gx A 1\n#end\n', 'fish').isIncomplete).toBe(true);
});
