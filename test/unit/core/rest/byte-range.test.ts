import { describe, expect, it } from 'vitest';

import { namesTag, parseContentRange, parseRange, strongTags } from '../../../../src/core/rest.js';

describe('Range', () => {
  it.each([
    ['bytes=0-9', 100, { offset: 0, length: 10 }],
    ['bytes=90-', 100, { offset: 90, length: 10 }],
    ['bytes=-10', 100, { offset: 90, length: 10 }],
    ['bytes=-1000', 100, { offset: 0, length: 100 }],
    ['bytes=0-1000', 100, { offset: 0, length: 100 }],
    ['Bytes=5-5', 100, { offset: 5, length: 1 }],
    ['bytes=100-', 100, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-0', 100, 'unsatisfiable'],
    ['bytes=-5', 0, 'unsatisfiable'],
    ['bytes=9-0', 100, undefined],
    ['bytes=-', 100, undefined],
    ['bytes=1-2,5-6', 100, undefined],
    ['items=0-9', 100, undefined],
    ['', 100, undefined],
  ])('%s of %d bytes', (header, size, range) => {
    expect(parseRange(header, size)).toEqual(range);
  });
});

describe('Content-Range', () => {
  it.each([
    ['bytes 0-9/100', { offset: 0, length: 10, total: 100 }],
    ['bytes 5-9/*', { offset: 5, length: 5, total: undefined }],
    ['bytes 5-4/*', undefined],
    ['bytes 5-10/10', undefined],
    ['bytes */10', undefined],
    ['5-9/10', undefined],
  ])('%s', (header, range) => {
    expect(parseContentRange(header)).toEqual(range);
  });
});

it('tags are compared strongly for If-Match, weakly for If-None-Match', () => {
  expect(strongTags('"a", W/"b", "c"')).toEqual(['a', 'c']);
  expect(strongTags(' * ')).toBe('any');
  expect(strongTags('nonsense')).toEqual([]);
  expect([namesTag('W/"a"', 'a'), namesTag('"b"', 'a'), namesTag('*', 'a')]).toEqual([true, false, true]);
});
