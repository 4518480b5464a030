import { describe, expect, it } from 'vitest';

import { type CheckpointKind, dropOrder, surplus } from '../../../../src/core/checkpoints.js';

const KINDS: Readonly<Record<string, CheckpointKind>> = { r: 'requested', u: 'before_restore', c: 'before_command' };

/** Checkpoints by their kinds, the oldest first: `r1 u2` and so on. */
const checkpoints = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map((id) => ({ id, kind: KINDS[id.charAt(0)]! }));

const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id).join(' ');

describe('dropOrder', () => {
  it.each([
    ['those that nobody asked for come first, the oldest before the newer', 'r1 u2 r3 c4 u5', '', 'u2 c4 u5 r1 r3'],
    ['those to be kept are not among them', 'r1 u2 r3', 'u2 r1', 'r3'],
    ['of none there are none', '', '', ''],
  ])('%s', (_what, all, kept, expected) => {
    expect(ids(dropOrder(checkpoints(all), new Set(kept.split(' '))))).toBe(expected);
  });
});

describe('surplus', () => {
  it.each([
    ['none, as long as there is room', 'r1 r2 r3', 3, '', ''],
    ['as many as are too many', 'r1 u2 r3 u4', 2, '', 'u2 u4'],
    ['never those to be kept, even when there are too many then', 'r1 r2 r3', 1, 'r1 r3', 'r2'],
  ])('%s', (_what, all, maxCount, kept, expected) => {
    expect(ids(surplus(checkpoints(all), maxCount, new Set(kept.split(' '))))).toBe(expected);
  });
});
