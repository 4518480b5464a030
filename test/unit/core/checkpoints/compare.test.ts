import { describe, expect, it } from 'vitest';

import { compareEntries, type Entries, notableChanges } from '../../../../src/core/checkpoints.js';
import { entries } from './entries.js';

const compare = (before: Entries, after: Entries, owners = true) =>
  compareEntries(before, after, { owners }).map(({ status, path }) => `${status} ${path}`);

const notable = (before: Entries, after: Entries) =>
  notableChanges(compareEntries(before, after, { owners: true }), before, after).map(
    ({ status, path }) => `${status} ${path}`,
  );

describe('compareEntries', () => {
  it.each([
    ['nothing, of two trees that are the same', ['a=1', 'd/', 'l->x'], ['a=1', 'd/', 'l->x'], []],
    ['what came and what went', ['a=1'], ['b=1'], ['deleted a', 'added b']],
    ['another content', ['a=1'], ['a=2'], ['modified a']],
    ['another target of a link', ['l->1'], ['l->2'], ['modified l']],
    ['a file that has become a link with the same bytes', ['a=1'], ['a->1'], ['type_changed a']],
    ['a file that has become a directory', ['a=1'], ['a/', 'a/b=1'], ['type_changed a', 'added a/b']],
    ['permissions alone', ['a=1', 'd/'], ['a=1!600', 'd/!700'], ['mode_changed a', 'mode_changed d']],
    ['content before permissions', ['a=1'], ['a=2!600'], ['modified a']],
    [
      'in the order of the bytes',
      ['z=1', 'a-b=1'],
      ['a/', 'a/b=1'],
      ['added a', 'deleted a-b', 'added a/b', 'deleted z'],
    ],
  ])('tells %s', (_what, before, after, expected) => {
    expect(compare(entries(...before), entries(...after))).toEqual(expected);
  });

  it('tells owners only where they can be set', () => {
    const before = entries('a=1');
    const after = new Map([...before].map(([path, entry]) => [path, { ...entry, uid: 7 }]));
    expect(compare(before, after)).toEqual(['mode_changed a']);
    expect(compare(before, after, false)).toEqual([]);
  });
});

describe('notableChanges', () => {
  it.each([
    [
      'leaves out directories that are told by what is in them',
      ['a=1'],
      ['a=1', 'd/', 'd/e/', 'd/e/f=1'],
      ['added d/e/f'],
    ],
    ['tells empty ones', ['d/'], ['e/', 'e/f/'], ['deleted d', 'added e/f']],
    ['tells permissions of any', ['d/', 'd/a=1'], ['d/!700', 'd/a=1'], ['mode_changed d']],
    ['tells a directory that was something else', ['a=1'], ['a/', 'a/b=1'], ['type_changed a', 'added a/b']],
  ])('%s', (_what, before, after, expected) => {
    expect(notable(entries(...before), entries(...after))).toEqual(expected);
  });
});
