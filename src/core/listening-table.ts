import { compressed } from './ip-address.js';

/** A socket that listens for TCP connections. */
export interface ListeningSocket {
  readonly address: string;
  readonly port: number;
  readonly inode: number;
}

/** State of a listening socket in /proc/net/tcp (enum in net/tcp_states.h). */
const LISTEN = '0A';
const HEX = 16;
const IPV4_DIGITS = 8;

/**
 * Reads the listening sockets of a table of /proc/net. Source: proc(5).
 * @param isLittleEndian byte order of the machine, in which the table has its words of 32 bits
 */
export function listeningIn(table: string, isLittleEndian: boolean): readonly ListeningSocket[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      if (state !== LISTEN) return [];
      const [address = '', port = ''] = local.split(':');
      const bytes = bytesOf(address, isLittleEndian);
      return [{ address: addressText(bytes), port: Number.parseInt(port, HEX), inode: Number(inode) }];
    });
}

function bytesOf(digits: string, isLittleEndian: boolean): readonly number[] {
  const words = digits.match(/.{8}/g) ?? [];
  return words.flatMap((word) => {
    const bytes = (word.match(/../g) ?? []).map((pair) => Number.parseInt(pair, HEX));
    return isLittleEndian ? bytes.reverse() : bytes;
  });
}

/** Number of bytes of an IPv4 address. */
const IPV4_BYTES = IPV4_DIGITS / 2;

function addressText(bytes: readonly number[]): string {
  if (bytes.length === IPV4_BYTES) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(HEX),
  );
  return compressed(groups.join(':'));
}
