import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ancestorsOf } from '../../../../src/core/checkpoints.js';
import { planRestore, type SavedTree, type Step } from '../../../../src/core/restore.js';
import { tree } from './entries.js';

const plan = (current: SavedTree, target: SavedTree, paths: readonly string[] = ['']) =>
  planRestore({ current, target, paths: new Set(paths), owners: true });

const show = (step: Step): string =>
  step.kind === 'set_attributes'
    ? `${step.kind} ${step.path} ${step.from.mode.toString(8)} ${step.to.mode.toString(8)}`
    : `${step.kind} ${step.path}`;

const steps = (current: readonly string[], target: readonly string[], paths?: readonly string[]) =>
  plan(tree(...current), tree(...target), paths).steps.map(show);

describe('the steps of a restore', () => {
  it.each([
    ['nothing to do', ['a=1'], ['a=1'], []],
    ['a file that went', [], ['a=1'], ['put_in a']],
    ['a file that came', ['a=1'], [], ['take_out a']],
    ['another content', ['a=1'], ['a=2'], ['take_out a', 'put_in a']],
    ['permissions alone', ['a=1!600'], ['a=1'], ['set_attributes a 600 644']],
    [
      'directories that went, the upper ones first, their permissions last',
      [],
      ['d/!500', 'd/e/', 'd/e/f=1'],
      [
        'make_directory d',
        'make_directory d/e',
        'put_in d/e/f',
        'set_attributes d/e 700 755',
        'set_attributes d 700 500',
      ],
    ],
    [
      'directories that came, the inner ones first',
      ['d/', 'd/e/', 'd/e/f=1'],
      [],
      ['take_out d/e/f', 'remove_directory d/e', 'remove_directory d'],
    ],
    [
      'a directory in place of a file',
      ['a=1'],
      ['a/', 'a/b=1'],
      ['take_out a', 'make_directory a', 'put_in a/b', 'set_attributes a 700 755'],
    ],
    ['a file in place of a directory', ['a/', 'a/b=1'], ['a=1'], ['take_out a/b', 'remove_directory a', 'put_in a']],
    [
      'something in a directory that its owner may not write to',
      ['d/!500', 'd/a=1'],
      ['d/!500', 'd/a=2'],
      ['set_attributes d 500 700', 'take_out d/a', 'put_in d/a', 'set_attributes d 700 500'],
    ],
    [
      'a directory with other permissions in which something changes',
      ['d/!500', 'd/a=1'],
      ['d/', 'd/a=2'],
      ['set_attributes d 500 700', 'take_out d/a', 'put_in d/a', 'set_attributes d 700 755'],
    ],
    [
      'a directory that goes although its owner may not write to it',
      ['d/!500', 'd/a=1'],
      [],
      ['set_attributes d 500 700', 'take_out d/a', 'remove_directory d'],
    ],
  ])('%s', (_what, current, target, expected) => {
    expect(steps(current, target)).toEqual(expected);
  });

  it('of a path include the directories that it needs, and not their permissions', () => {
    const target = ['a/!700', 'a/b/', 'a/b/c=1', 'a/d=1'];
    expect(steps([], target, ['a/b/c']).slice(0, 3)).toEqual([
      'make_directory a',
      'make_directory a/b',
      'put_in a/b/c',
    ]);
    expect(steps(['a/', 'a/b/'], target, ['a/b/c'])).toEqual(['put_in a/b/c']);
  });
});

describe('what was not saved', () => {
  it.each([
    ['stays when it came later', ['p?special'], [], [], []],
    ['stays when it was there before', ['p?special'], ['p?special'], [], []],
    ['keeps its directory', ['d/', 'd/p?special', 'd/a=1'], [], ['take_out d/a'], ['d/p special']],
    ['keeps the directories above that', ['d/', 'd/e/', 'd/e/p?special'], [], [], ['d/e/p special']],
    ['keeps its directory from becoming a file', ['d/', 'd/p?special'], ['d=1'], [], ['d/p special']],
    ['is not replaced', ['p?special'], ['p=1'], [], ['p special']],
    ['is not replaced by a directory, nor is that filled', ['p?special'], ['p/', 'p/a=1'], [], ['p special']],
    ['is told when it is gone', [], ['p?too_large'], [], ['p too_large']],
    ['is left alone when it could be saved by now', ['p=1'], ['p?too_large'], [], ['p too_large']],
    ['is left alone with all in it', ['d/', 'd/a=1'], ['d?unreadable'], [], ['d unreadable']],
  ])('%s', (_what, current, target, expectedSteps, expectedSkipped) => {
    const { steps: made, skipped } = plan(tree(...current), tree(...target));
    expect(made.map(show)).toEqual(expectedSteps);
    expect(skipped.map(({ path, reason }) => `${path} ${reason}`)).toEqual(expectedSkipped);
  });

  it('is told for the wanted paths alone', () => {
    const { skipped } = plan(tree('a?special', 'b?special'), tree('a=1', 'b=1'), ['b']);
    expect(skipped).toEqual([{ path: 'b', reason: 'special' }]);
  });
});

/** Makes the steps on a tree in memory; fails where a file system would. */
function make(
  current: SavedTree,
  made: readonly Step[],
  contents: ReadonlyMap<number, { readonly object: string }>,
): Map<string, string> {
  const state = new Map(
    [...current.entries].map(([path, { kind, object }]) => [path, kind === 'directory' ? 'directory' : object]),
  );
  const isEmpty = (path: string) => ![...state.keys()].some((other) => other.startsWith(`${path}/`));
  for (const { kind, path, ...step } of made) {
    for (const ancestor of ancestorsOf(path)) expect(state.get(ancestor), `${kind} ${path}`).toBe('directory');
    if (kind === 'take_out' || kind === 'remove_directory') {
      expect(state.get(path) === 'directory', `${kind} ${path}`).toBe(kind === 'remove_directory');
      expect(isEmpty(path)).toBe(true);
      expect(state.delete(path)).toBe(true);
    } else if (kind !== 'set_attributes') {
      expect(state.has(path), `${kind} ${path}`).toBe(false);
      state.set(path, kind === 'put_in' ? (contents.get((step as { slot: number }).slot)?.object ?? '?') : 'directory');
    }
  }
  return state;
}

describe('any two trees', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
  const content = fc.constantFrom('=1', '=2', '->x', '/');
  const anyTree = fc.dictionary(path, content, { maxKeys: 8 }).map((files) => {
    const lines = new Map<string, string>();
    for (const [file, suffix] of Object.entries(files).toSorted(([a], [b]) => a.length - b.length)) {
      const above = ancestorsOf(file);
      if (above.some((ancestor) => (lines.get(ancestor) ?? '/') !== '/')) continue;
      for (const ancestor of above) lines.set(ancestor, '/');
      lines.set(file, lines.get(file) ?? suffix);
    }
    return tree(...[...lines].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([file, suffix]) => `${file}${suffix}`));
  });

  it('become the same by the steps, none of which a file system would refuse', () => {
    fc.assert(
      fc.property(anyTree, anyTree, (current, target) => {
        const { steps: made, contents } = plan(current, target);
        const expected = [...target.entries].map(([file, { kind, object }]) => [
          file,
          kind === 'directory' ? 'directory' : object,
        ]);
        expect(Object.fromEntries(make(current, made, contents))).toEqual(Object.fromEntries(expected) as object);
      }),
    );
  });

  it('of a path change nothing beside it, but directories above it', () => {
    fc.assert(
      fc.property(anyTree, anyTree, path, (current, target, wanted) => {
        const { steps: made, contents } = plan(current, target, [wanted]);
        make(current, made, contents);
        for (const { path: changed } of made) {
          const isRelated = changed === wanted || changed.startsWith(`${wanted}/`) || wanted.startsWith(`${changed}/`);
          const isInTheWay = ancestorsOf(changed).some(
            (ancestor) => target.entries.get(ancestor)?.kind !== 'directory',
          );
          expect(isRelated || isInTheWay, changed).toBe(true);
        }
      }),
    );
  });
});
