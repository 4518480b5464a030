import { describe, expect, it } from 'vitest';

import {
  answerHeaders,
  loopbackFor,
  parsePreviewUrl,
  previewPathOf,
  requestHeaders,
  shownAt,
} from '../../../../src/core/previews.js';

const origin = { port: 3000, prefix: '/v1/sessions/s/ports/3000', host: 'box:8087', isEncrypted: true };

describe('requestHeaders', () => {
  it('drops what is for the daemon and for the connection', () => {
    const headers = {
      host: 'box:8087',
      authorization: 'Bearer t',
      'x-api-key': 't',
      connection: 'keep-alive, X-Hop',
      'x-hop': '1',
      te: 'trailers',
      upgrade: 'h2c',
      expect: '100-continue',
      forwarded: 'for=x',
      'x-forwarded-for': 'x',
      accept: 'text/html',
      'content-length': '3',
    };
    expect(requestHeaders(headers, origin)).toEqual({
      accept: 'text/html',
      'content-length': '3',
      host: 'localhost:3000',
      'x-forwarded-host': 'box:8087',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/v1/sessions/s/ports/3000',
    });
  });

  it('keeps the framing of a body in chunks, whatever the method', () => {
    expect(requestHeaders({ 'transfer-encoding': 'chunked' }, origin)).toHaveProperty('transfer-encoding', 'chunked');
  });
});

describe('answerHeaders', () => {
  it.each([
    ['/login?a#b', '/v1/sessions/s/ports/3000/login?a#b'],
    ['http://localhost:3000', '/v1/sessions/s/ports/3000/'],
    ['http://127.0.0.1:3000/x', '/v1/sessions/s/ports/3000/x'],
    ['http://localhost:3001/x', 'http://localhost:3001/x'],
    ['https://example.org/x', 'https://example.org/x'],
    ['//example.org/x', '//example.org/x'],
    ['/\\example.org/x', '/\\example.org/x'],
    ['next', 'next'],
  ])('a redirect to %s leads to %s', (location, expected) => {
    expect(answerHeaders({ location }, origin)).toEqual({ location: expected, 'content-security-policy': 'sandbox' });
  });

  it('drops what the connection has, and what allows or reports', () => {
    const headers = {
      connection: 'close',
      'transfer-encoding': 'chunked',
      'access-control-allow-credentials': 'true',
      'www-authenticate': 'Basic',
      'report-to': '{}',
      etag: '"1"',
    };
    expect(answerHeaders(headers, origin)).toEqual({ etag: '"1"', 'content-security-policy': 'sandbox' });
  });
});

describe('parsePreviewUrl', () => {
  it.each([
    ['/v1/sessions/s/ports/80', '/'],
    ['/v1/sessions/s/ports/80?q=/a', '/?q=/a'],
    ['/v1/sessions/s/ports/80/../a%2Fb?c', '/../a%2Fb?c'],
  ])('%s is %s on the port', (url, path) => {
    expect(parsePreviewUrl(url)).toEqual({ sessionId: 's', port: '80', prefix: '/v1/sessions/s/ports/80', path });
  });

  it.each(['/v1/sessions/s/ports/', '/v1/sessions//ports/80', '/socket.io/', 'http://h/v1/sessions/s/ports/80'])(
    '%s is none',
    (url) => {
      expect(parsePreviewUrl(url)).toBeUndefined();
    },
  );

  it('reads what previewPathOf makes', () => {
    expect(parsePreviewUrl(previewPathOf('s', 80))).toMatchObject({ sessionId: 's', port: '80', path: '/' });
  });
});

describe('loopbackFor', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
    ['::1', '::1'],
    ['::ffff:7f00:1', '127.0.0.1'],
    ['127.0.0.2', undefined],
    ['192.168.0.7', undefined],
  ])('a program on %s is reached at %s', (address, expected) => {
    expect(loopbackFor(address, true)).toBe(expected);
  });

  it('a program on all addresses is reached by IPv4 where there is no IPv6', () => {
    expect(loopbackFor('::', false)).toBe('127.0.0.1');
  });
});

describe('an origin that the client names', () => {
  const own = shownAt(origin, 'http://127.0.0.1:4000');

  it('is told to the program, which sees no prefix', () => {
    expect(requestHeaders({ 'x-preview-origin': 'http://127.0.0.1:4000' }, own)).toEqual({
      host: 'localhost:3000',
      'x-forwarded-host': '127.0.0.1:4000',
      'x-forwarded-proto': 'http',
    });
  });

  it('keeps scripts, redirects and cookies as they are', () => {
    expect(answerHeaders({ location: 'http://localhost:3000/a', 'set-cookie': ['a=1; Path=/b'] }, own)).toEqual({
      location: '/a',
      'set-cookie': ['a=1; Path=/'],
    });
  });

  it.each(['', 'null', 'http://a/', 'http://a/b', 'ftp://a', 'a', ['http://a', 'http://b']])(
    'cannot be %j',
    (named) => {
      expect(() => shownAt(origin, named)).toThrow(/has to be an origin/);
    },
  );
});
