import type { IncomingHttpHeaders } from 'node:http';

import { describe, expect, it } from 'vitest';

import {
  type OriginPolicy,
  indirectnessOf,
  isOfOwnPage,
  isOfPage,
  pageOf,
  refusalOf,
} from '../../../src/transports/access.js';

const DOOR: OriginPolicy = {
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

  it.each(['https://example.org', 'http://127.0.0.1:8087', 'http://localhost', 'null', ''])(
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

describe('a request is of a page', () => {
  const host = '127.0.0.1:8087';

  it.each([
    ['no origin', { host }, false],
    ['the origin of the host', { host, origin: 'http://127.0.0.1:8087' }, false],
    ['the same by https', { host, origin: 'https://127.0.0.1:8087' }, false],
    ['a name in other letters', { host: 'LocalHost:8087', origin: 'http://localhost:8087' }, false],
    ['an IPv6 address', { host: '[::1]:8087', origin: 'http://[::1]:8087' }, false],
    ['a port that the scheme implies', { host: 'localhost', origin: 'http://localhost:80' }, false],
    ['another port', { host, origin: 'http://127.0.0.1:3000' }, true],
    ['another name of the same machine', { host, origin: 'http://localhost:8087' }, true],
    ['no port', { host, origin: 'http://127.0.0.1' }, true],
    ['another scheme', { host, origin: 'chrome-extension://127.0.0.1:8087' }, true],
    ['a sandboxed frame', { host, origin: 'null' }, true],
    ['an empty origin', { host, origin: '' }, true],
    ['a path', { host, origin: 'http://127.0.0.1:8087/' }, true],
    ['a user', { host, origin: 'http://x@127.0.0.1:8087' }, true],
    ['a host without a name', { host: '', origin: 'http://' }, true],
    [
      'the origin of the host, in a browser',
      { host, origin: 'http://127.0.0.1:8087', 'user-agent': 'Mozilla/5.0' },
      true,
    ],
    [
      'the origin of the host, by fetch',
      { host, origin: 'http://127.0.0.1:8087', 'sec-fetch-site': 'same-origin' },
      true,
    ],
  ])('with %s: %j %s', (_what, headers: IncomingHttpHeaders, isPage) => {
    expect(pageOf(headers)).toBe(isPage ? headers.origin : undefined);
    expect(indirectnessOf(headers) !== undefined).toBe(isPage);
    const door = { ...DOOR, takesPages: false };
    if (headers.host !== '') expect(refusalOf({ headers }, door) !== undefined).toBe(isPage && !isOfOwnPage(headers));
  });
});

describe('the page that the daemon has served', () => {
  const host = 'localhost:8087';
  const browser = { 'user-agent': 'Mozilla/5.0', 'sec-fetch-site': 'same-origin' };
  const own = { host, origin: `http://${host}`, ...browser };

  it.each([
    ['its origin', own, true],
    ['TLS of a proxy', { ...own, origin: `https://${host}` }, true],
    ['a request that has no origin', { host, ...browser }, true],
    ['another port', { ...own, origin: 'http://localhost:3000' }, false],
    ['a request of another site', { host, ...browser, 'sec-fetch-site': 'cross-site' }, false],
    ['its origin, from another site', { ...own, 'sec-fetch-site': 'same-site' }, false],
    ['a sandboxed frame', { ...own, origin: 'null' }, false],
  ])('is recognised by %s: %j %s', (_what, headers: IncomingHttpHeaders, isOwn) => {
    expect(isOfOwnPage(headers)).toBe(isOwn);
    expect(indirectnessOf(headers, true) === undefined).toBe(isOwn);
    // With tokens it has to show one.
    expect(indirectnessOf(headers)).toBeDefined();
  });

  it('needs no entry in a list of origins, but an accepted host', () => {
    const door = { ...DOOR, corsAllowedOrigins: ['https://other.example'], takesPages: false };
    expect(refusalOf({ headers: own }, door)).toBeUndefined();
    expect(refusalOf({ headers: { ...own, host: 'evil.example', origin: 'http://evil.example' } }, door)).toContain(
      'not this machine',
    );
  });

  it('needs a token where a proxy forwards its requests', () => {
    expect(indirectnessOf({ ...own, 'x-forwarded-for': '192.0.2.1' }, true)).toContain('a proxy forwards');
  });
});

describe('a request without an origin counts as indirect', () => {
  it.each([
    ...['via', 'forwarded', 'cdn-loop', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded'],
    ...['x-forwarded-server', 'forwarded-for', 'x-original-forwarded-for', 'x-real-ip', 'true-client-ip', 'client-ip'],
    ...['x-client-ip', 'x-cluster-client-ip', 'x-remote-addr', 'x-proxyuser-ip', 'x-azure-clientip', 'x-original-url'],
    ...[
      'cf-connecting-ip',
      'cf-connecting-ipv6',
      'cf-ray',
      'fastly-client-ip',
      'fly-client-ip',
      'tailscale-user-login',
    ],
    ...['x-envoy-external-address', 'x-amzn-trace-id', 'x-appengine-user-ip', 'remote-user', 'proxy-connection'],
  ])('by the header %s of a proxy', (name) => {
    expect(indirectnessOf({ host: '127.0.0.1', [name]: 'x' })).toContain(`by its header ${name}`);
    expect(isOfPage({ host: '127.0.0.1', [name]: 'x' })).toBe(false);
  });

  it.each([
    ['cross-site', true],
    ['same-site', true],
    ['same-origin', true],
    ['none', false],
  ])('in a browser, by Sec-Fetch-Site: %s; of a page: %s', (site, isPage) => {
    const headers = { host: '127.0.0.1', 'sec-fetch-site': site };
    expect(indirectnessOf(headers)).toContain(`Sec-Fetch-Site: ${site}`);
    expect(isOfPage(headers)).toBe(isPage);
  });

  it('and not by those that programs send', () => {
    const names = [
      'accept',
      'authorization',
      'user-agent',
      'x-api-key',
      'x-request-id',
      'traceparent',
      'sec-fetch-mode',
    ];
    const more = [
      'x-stainless-os',
      'anthropic-version',
      'openai-organization',
      'mcp-session-id',
      'connection',
      'upgrade',
    ];
    const headers = Object.fromEntries([...names, ...more].map((name) => [name, 'x']));
    expect(indirectnessOf({ host: '127.0.0.1', ...headers })).toBeUndefined();
    expect(isOfPage({ host: '127.0.0.1', ...headers })).toBe(false);
  });
});
