import { describe, expect, it } from 'vitest';

import { readOpening } from '../../../../src/core/egress.js';

const sized = (length: 1 | 2 | 3, content: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(content.length);
  return Buffer.concat([size.subarray(4 - length), content]);
};
const extension = (type: number, content: Buffer) => Buffer.concat([Buffer.from([0, type]), sized(2, content)]);
const serverName = (name: string) =>
  extension(0, sized(2, Buffer.concat([Buffer.from([0]), sized(2, Buffer.from(name))])));

/** The content of a ClientHello (RFC 8446, 4.1.2). */
const hello = (...extensions: Buffer[]) => {
  const fixed = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32, 7)]);
  const lists = [sized(1, Buffer.alloc(32)), sized(2, Buffer.from([19, 1])), sized(1, Buffer.from([0]))];
  return Buffer.concat([fixed, ...lists, sized(2, Buffer.concat(extensions))]);
};
const record = (content: Buffer) => Buffer.concat([Buffer.from([22, 3, 1]), sized(2, content)]);
const handshake = (content: Buffer, type = 1) => Buffer.concat([Buffer.from([type]), sized(3, content)]);

const NAMED = handshake(hello(extension(10, Buffer.from('groups')), serverName('example.com')));

describe('the opening of a connection', () => {
  it('names the server of a TLS handshake', () => {
    expect(readOpening(record(NAMED))).toEqual({ kind: 'tls', name: 'example.com' });
    expect(readOpening(record(handshake(hello())))).toEqual({ kind: 'tls', name: undefined });
  });

  it('names it too when the handshake comes in many records, each of one byte', () => {
    const pieces = [...NAMED].map((byte) => record(Buffer.from([byte])));
    expect(readOpening(Buffer.concat(pieces))).toEqual({ kind: 'tls', name: 'example.com' });
  });

  it('is incomplete until all of the handshake is there', () => {
    const whole = record(NAMED);
    for (let length = 0; length < whole.length; length++) {
      expect(readOpening(whole.subarray(0, length))).toEqual({ kind: 'incomplete' });
    }
  });

  it.each([
    ['another record', Buffer.from([22, 9, 1, 0, 1, 1]), 'it begins like TLS and is not'],
    ['another message', record(handshake(hello(), 2)), 'does not begin with a ClientHello'],
    ['too large', record(Buffer.from([1, 255, 255, 255])), 'too large'],
    ['cut off inside', record(handshake(hello(serverName('a')).subarray(0, -3))), 'cut off'],
  ])('is broken: %s', (_, bytes, why) => {
    expect(readOpening(bytes)).toEqual({ kind: 'broken', why: expect.stringContaining(why) as string });
  });

  it.each([
    ['GET / HTTP/1.1\r\nHost: a\r\n', 'http'],
    ['\r\n\r\nGET / HTTP/1.1\r\n', 'http'],
    ['ODD\t/x\tHTTP/1.0\n', 'http'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'http'],
    ['get / http/1.1\r\n', 'http'],
    ['GET / HT', 'incomplete'],
    ['\r\n', 'incomplete'],
    ['SSH-2.0-OpenSSH_9.2\r\n', 'other'],
    ['EHLO me\r\n', 'other'],
    ['\0\0\0\x08\x04\xd2\x16\x2f', 'other'],
  ])('%j is %s', (text, kind) => {
    expect(readOpening(Buffer.from(text, 'latin1')).kind).toBe(kind);
  });
});
