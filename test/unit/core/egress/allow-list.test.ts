import { describe, expect, it } from 'vitest';

import { AllowList, destinationOf, parseAddress, parseAllowed } from '../../../../src/core/egress.js';

const listOf = (...entries: string[]) =>
  new AllowList(
    entries.map((text) => {
      const entry = parseAllowed(text);
      if (typeof entry === 'string') throw new Error(`${text} ${entry}`);
      return entry;
    }),
  );
const at = (text: string) => destinationOf(text)!;

describe('an allow-list', () => {
  it.each<[entry: string, destination: string, isListed: boolean]>([
    ['example.com:443', 'example.com:443', true],
    ['example.com:443', 'EXAMPLE.com.:443', true],
    ['example.com:443', 'example.com:80', false],
    ['example.com:443', 'www.example.com:443', false],
    ['example.com:443', 'badexample.com:443', false],
    ['example.com:443', 'example.com.evil.net:443', false],
    ['example.com', 'example.com:8080', true],
    ['*.example.org', 'a.example.org:80', true],
    ['*.example.org', 'a.b.example.org:443', true],
    ['*.example.org', 'example.org:443', false],
    ['*.example.org', 'badexample.org:443', false],
    ['*.example.org:443', 'a.example.org:80', false],
    ['bücher.example', 'xn--bcher-kva.example:443', true],
    ['192.0.2.1:80', '192.0.2.1:80', true],
    ['192.0.2.1', '0xc0.0.513:80', true],
    ['192.0.2.1', '192.0.2.2:80', false],
    ['192.0.2.1', '[::ffff:192.0.2.1]:80', true],
    ['10.0.0.0/8', '10.1.2.3:5432', true],
    ['10.0.0.0/8:80', '10.1.2.3:5432', false],
    ['10.0.0.0/8', '11.0.0.1:80', false],
    ['2001:db8::1', '[2001:DB8:0::1]:443', true],
    ['[2001:db8::1]:443', '[2001:db8::1]:443', true],
    ['[2001:db8::1]:443', '[2001:db8::1]:80', false],
    ['2001:db8::/32', '[2001:db8:ffff::9]:22', true],
    ['[fd00::]/8:22', '[fd12::1]:22', true],
  ])('%s and %s: %s', (entry, destination, isListed) => {
    expect(listOf(entry).lists(at(destination))).toBe(isListed);
  });

  it.each([
    ...['127.0.0.1', '127.9.9.9', '10.0.0.1', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1'],
    ...['0.0.0.0', '224.0.0.1', '255.255.255.255', '198.18.0.1', '::', '::1', 'fd00::1', 'fe80::1'],
    ...['2002:7f00:1::', '2001::1', '64:ff9b::7f00:1', '::ffff:10.0.0.1'.replace('10.0.0.1', 'a00:1')],
  ])('lets no listed name lead to %s', (text) => {
    const destination = at('internal.example.com:443');
    expect(listOf('internal.example.com').mayLeadTo(parseAddress(text)!, destination)).toBe(false);
    expect(listOf('internal.example.com', text).mayLeadTo(parseAddress(text)!, destination)).toBe(true);
  });

  it.each(['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '::ffff:5db8:d70e'])(
    'lets a listed name lead to %s',
    (text) => {
      expect(listOf('example.com').mayLeadTo(parseAddress(text)!, at('example.com:443'))).toBe(true);
    },
  );

  it('lets localhost lead to the loopback, and to nothing else that is private', () => {
    const list = listOf('localhost:80');
    expect(list.mayLeadTo(parseAddress('127.0.0.1')!, at('localhost:80'))).toBe(true);
    expect(list.mayLeadTo(parseAddress('10.0.0.1')!, at('localhost:80'))).toBe(false);
  });

  it('keeps programs on their own loopback, except for what is listed of it', () => {
    expect(listOf('example.com').ownHosts).toEqual(['localhost', '127.0.0.1', '::1']);
    expect(listOf('localhost:80', '127.0.0.0/8').ownHosts).toEqual(['::1']);
  });

  it.each([
    ['', 'must be HOST or HOST:PORT'],
    ['*', 'must be HOST or HOST:PORT'],
    ['*.*.example.com', 'must be HOST or HOST:PORT'],
    ['ex*mple.com', 'must be HOST or HOST:PORT'],
    ['https://example.com', 'must be HOST or HOST:PORT'],
    ['example.com/path', 'must be HOST or HOST:PORT'],
    ['example.com/8', 'must be HOST or HOST:PORT'],
    ['example.com:', 'must have a port from 1 to 65535'],
    ['example.com:0', 'must have a port from 1 to 65535'],
    ['example.com:99999', 'must have a port from 1 to 65535'],
    ['example.com:http', 'must have a port from 1 to 65535'],
    ['10.0.0.0/33', 'must have a prefix length from 0 to 32'],
    ['user@example.com', 'must be HOST or HOST:PORT'],
    ['a b', 'must be HOST or HOST:PORT'],
    ['1.2.3.4.5', 'must be HOST or HOST:PORT'],
  ])('refuses the entry "%s"', (text, error) => {
    expect(parseAllowed(text)).toContain(error);
  });
});
