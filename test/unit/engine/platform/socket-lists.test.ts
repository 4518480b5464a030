import { describe, expect, it } from 'vitest';

import {
  connectionOf,
  parseConnections,
  parseOpenSockets,
  parseTakenPorts,
} from '../../../../src/engine/platform/posix/sockets.js';

describe('the output of lsof', () => {
  it.each([
    ['nothing', '', []],
    ['one socket', 'p42\nf3\ntIPv4\nd5699282\nn127.0.0.1:8080\n', [{ pid: 42, port: 8080, address: '127.0.0.1' }]],
    [
      'all addresses, of both kinds',
      'p42\nf3\ntIPv4\nd1\nn*:80\nf4\ntIPv6\nd2\nn*:81\n',
      [
        { pid: 42, port: 80, address: '0.0.0.0' },
        { pid: 42, port: 81, address: '::' },
      ],
    ],
    ['an address of IPv6', 'p1\nf3\ntIPv6\nd0x1a2b\nn[::1]:65535\n', [{ pid: 1, port: 65535, address: '::1' }]],
    [
      'a socket that processes share',
      'p1\nf3\ntIPv4\nd7\nn*:80\np2\nf3\ntIPv4\nd7\nn*:80\n',
      [{ pid: 1, port: 80, address: '0.0.0.0' }],
    ],
    [
      'sockets without a device',
      'p1\nf3\ntIPv4\nn*:80\np2\nf3\ntIPv4\nn*:81\n',
      [
        { pid: 1, port: 80, address: '0.0.0.0' },
        { pid: 2, port: 81, address: '0.0.0.0' },
      ],
    ],
    ['a socket without a port', 'p1\nf3\ntIPv4\nd1\nn*:*\n', []],
  ])('has %s', (_, text, ports) => {
    expect(parseOpenSockets(text)).toEqual(ports);
  });
});

describe('connections in the output of lsof', () => {
  const ends = { remoteAddress: '127.0.0.1', remotePort: 5000, localAddress: '127.0.0.1', localPort: 80 };
  const line = 'f3\nn127.0.0.1:5000->127.0.0.1:80\n';

  it.each([
    ['their user', `p1\nu1000\n${line}`, 1000],
    ['their user, on an IPv6 socket', 'p1\nu7\nf3\nn[::ffff:127.0.0.1]:5000->[::ffff:127.0.0.1]:80\n', 7],
    ['no user where several share one', `p1\nu0\n${line}p2\nu1000\n${line}`, NaN],
    ['no user where none is told', `p1\n${line}`, NaN],
    ['nothing about the other end', 'p1\nu1\nf3\nn127.0.0.1:80->127.0.0.1:5000\n', undefined],
    ['nothing about other ports', 'p1\nu1\nf3\nn127.0.0.1:5001->127.0.0.1:80\n', undefined],
  ])('have %s', (_, text, owner) => {
    expect(parseConnections(text).get(connectionOf(ends))).toEqual(owner);
  });

  it('are the same for a daemon that listens on IPv6, too', () => {
    const mapped = { ...ends, remoteAddress: '::ffff:127.0.0.1', localAddress: '::ffff:127.0.0.1' };
    expect(connectionOf(mapped)).toBe(connectionOf(ends));
  });
});

describe('the output of netstat', () => {
  it.each([
    ['Linux', 'tcp        0      0 0.0.0.0:2024            0.0.0.0:*               LISTEN     \n', [2024]],
    ['Linux, with IPv6', 'tcp6       0      0 ::1:631                 :::*                    LISTEN\n', [631]],
    ['macOS', 'tcp4       0      0  127.0.0.1.8021         *.*                    LISTEN     \n', [8021]],
    [
      'macOS, all addresses',
      'tcp46      0      0  *.3000                 *.*                    LISTEN     \n',
      [3000],
    ],
    ['a connection', 'tcp        0      0 10.0.0.1:22             10.0.0.2:5000           ESTABLISHED\n', []],
    ['a datagram socket', 'udp        0      0 0.0.0.0:68              0.0.0.0:*\n', []],
  ])('on %s', (_, text, ports) => {
    expect([...parseTakenPorts(text)]).toEqual(ports);
  });
});
