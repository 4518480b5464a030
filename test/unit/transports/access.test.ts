import { describe, expect, it } from 'vitest';

import { refusalOf } from '../../../src/transports/access.js';

describe('a request is let in', () => {
  it.each(['127.0.0.1:8087', '127.0.0.1', '127.255.0.9:1', 'localhost', 'LocalHost:8087', '[::1]', '[::1]:8087'])(
    'to %s',
    (host) => {
      expect(refusalOf({ headers: { host } })).toBeUndefined();
    },
  );
});

describe('a request is refused', () => {
  it.each([
    'example.org',
    'example.org:8087',
    'localhost.example.org',
    'localhost@example.org',
    '127.0.0.1.example.org',
    '128.0.0.1',
    '0.0.0.0',
    '[::2]:8087',
    '::1',
    '',
  ])('to %j', (host) => {
    expect(refusalOf({ headers: { host } })).toContain('is not this machine');
  });

  it('without a host', () => {
    expect(refusalOf({ headers: {} })).toContain('is not this machine');
  });

  it.each(['https://example.org', 'http://127.0.0.1:8087', 'null', ''])(
    'with the origin %j, whatever the host',
    (origin) => {
      expect(refusalOf({ headers: { host: '127.0.0.1', origin } })).toContain('web pages are refused');
    },
  );
});
