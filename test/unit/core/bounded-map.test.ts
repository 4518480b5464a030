import { expect, it } from 'vitest';

import { BoundedMap } from '../../../src/core/bounded-map.js';

it('forgets what was set first, and keeps what was set again', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3);
  expect([...map]).toEqual([
    ['b', 2],
    ['a', 3],
  ]);
  map.set('c', 4);
  expect([...map.keys()]).toEqual(['a', 'c']);
  expect(map.get('b')).toBeUndefined();
});
