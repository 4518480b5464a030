import { describe, expect, it } from 'vitest';

import { type DoorSettings, refusalOf } from '../../../src/transports/access.js';

const DOOR: DoorSettings = {
  isLoopback: true,
  allowedHosts: ['adapter.test'],
  corsAllowedOrigins: [],
  takesPages: true,
};

describe('a request is let in', () => {
  it.each([
    '127.0.0.1:8087',
    '127.0.0.1',
    '127.255.0.9:1',
    'localhost',
    'LocalHost:8087',
    '[::1]',
    '[::1]:8087',
    'adapter.test:8087',
  ])('to %s', (host) => {
    expect(refusalOf({ headers: { host } }, DOOR)).toBeUndefined();
  });
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
    expect(refusalOf({ headers: { host } }, DOOR)).toContain('is not this machine');
  });

  it('without a host', () => {
    expect(refusalOf({ headers: {} }, DOOR)).toContain('is not this machine');
  });

  it.each(['https://example.org', 'http://127.0.0.1:8087', 'null', ''])(
    'with the origin %j, whatever the host',
    (origin) => {
      expect(refusalOf({ headers: { host: '127.0.0.1', origin } }, DOOR)).toContain('are refused');
    },
  );

  it('with any origin where tokens are not asked for, and with none where they are', () => {
    const headers = { host: '127.0.0.1', origin: 'https://example.org' };
    expect(refusalOf({ headers }, { ...DOOR, corsAllowedOrigins: '*' })).toBeUndefined();
    expect(refusalOf({ headers }, { ...DOOR, corsAllowedOrigins: '*', takesPages: false })).toContain('auth.mode none');
  });

  it('with an address as host where other machines connect is let in', () => {
    expect(refusalOf({ headers: { host: '192.0.2.1' } }, { ...DOOR, isLoopback: false })).toBeUndefined();
  });
});
