import { describe, expect, it } from 'vitest';

import { coversOf, type Place } from '../../../../src/core/sandbox.js';

const hide = (path: string): Place => ({ path, view: 'empty-directory' });
const pin = (path: string): Place => ({ path, view: 'writable' });

describe('coversOf', () => {
  it.each<readonly [title: string, hidden: readonly string[], covers: readonly Place[]]>([
    ['takes a place outside of the workspace as it is', ['/home/u/.ssh'], [hide('/home/u/.ssh')]],
    ['leaves out what lies in a hidden directory', ['/state/run', '/state', '/state/a/b'], [hide('/state')]],
    ['knows directories from those that begin alike', ['/state', '/state-2'], [hide('/state'), hide('/state-2')]],
    [
      'keeps what lies in the workspace in a hidden directory',
      ['/work', '/work/space/x'],
      ['/work', '/work/space/x'].map(hide),
    ],
    ['pins nothing for a place in the workspace itself', ['/work/space/.ssh'], [hide('/work/space/.ssh')]],
    [
      'pins the directories of the workspace on the way',
      ['/work/space/a/b/socket'],
      [pin('/work/space/a'), pin('/work/space/a/b'), hide('/work/space/a/b/socket')],
    ],
  ])('%s', (_, hidden, covers) => {
    expect(coversOf(hidden.map(hide), '/work/space')).toEqual(covers);
  });
});
