import { expect, it } from 'vitest';

import { progressLine } from '../../../../src/cli/files/file-transfers.js';

it.each([
  [{ name: 'a', size: 4_000_000, done: 1_000_000, bytesPerSecond: 2_500_000 }, 'a  25 %  1.0 of 4.0 MB  2.5 MB/s'],
  [{ name: 'empty', size: 0, done: 0, bytesPerSecond: 0 }, 'empty  100 %  0.0 of 0.0 MB  0.0 MB/s'],
])('%j', (facts, line) => {
  expect(progressLine(facts)).toBe(line);
});
