import { expect, it } from 'vitest';

import { chooseCoding, type Coding } from '../../../../src/transports/dashboard.js';

it.each<[header: string | undefined, available: Coding[], chosen: Coding]>([
  ['gzip, deflate, br, zstd', ['br', 'gzip', 'identity'], 'br'],
  ['gzip, deflate, br', ['gzip', 'identity'], 'gzip'],
  ['gzip;q=1.0, br;q=0', ['br', 'gzip', 'identity'], 'gzip'],
  ['X-GZIP', ['br', 'gzip', 'identity'], 'gzip'],
  ['*', ['br', 'gzip', 'identity'], 'br'],
  ['*;q=0', ['br', 'gzip', 'identity'], 'identity'],
  ['br;q=0, *', ['br', 'gzip', 'identity'], 'gzip'],
  ['identity', ['br', 'gzip', 'identity'], 'identity'],
  ['deflate', ['br', 'gzip', 'identity'], 'identity'],
  ['', ['br', 'identity'], 'identity'],
  [undefined, ['br', 'identity'], 'identity'],
])('Accept-Encoding %j, with %j there: %s', (header, available, chosen) => {
  expect(chooseCoding(header, new Set(available))).toBe(chosen);
});
