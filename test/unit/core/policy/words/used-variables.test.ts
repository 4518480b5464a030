import { describe, expect, it } from 'vitest';

import { findUsedVariables } from '../../../../../src/core/policy/words/saved-state.js';

const NAMED = {
  functions: new Map([
    ['tidy', '{ rm -f "$G"; deeper; }'],
    ['deeper', '{ echo ${H}; tidy; }'],
  ]),
  aliases: new Map([['go', 'tidy now']]),
  areNamesUnknown: false,
};

const find = (text: string) => {
  const { names, hasOthers } = findUsedVariables(text, NAMED);
  return { names: names.filter((name) => name !== 'IFS').join(' '), hasOthers };
};

describe('the variables that a text reads', () => {
  it.each([
    ['rm -rf build', ''],
    ['rm -rf $D/f "${E%/}" ${#F}', 'D E F'],
    ['echo $RANDOM $LINENO', ''],
    ['rm f$((i + 1))', 'rm f i'],
    ['[[ -v x ]] && rm -f f', 'v x rm f'],
    ['cd $D', 'D CDPATH OLDPWD'],
    ['go', 'G H'],
    ['x=$(tidy)', 'G H'],
    ['kill $$', ''],
  ])('%s', (text, names) => {
    expect(find(text)).toEqual({ names, hasOthers: false });
  });

  it.each([
    'rm $1',
    'rm "$@"',
    'rm $*',
    'rm ${10}',
    'kill $!',
    'rm $_',
    'rm ${!D}',
    'eval "rm \\$D"',
    'source ./f',
    '. ./f',
  ])('%s may read others', (text) => {
    expect(find(text).hasOthers).toBe(true);
  });

  it('reads always how words are split', () => {
    expect(findUsedVariables('rm $D', NAMED).names).toEqual(['IFS', 'D']);
  });
});
