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
  return compress(groups.join(':'));
}

/** Shortens the longest run of zero groups to `::`. Source: RFC 5952. */
function compress(address: string): string {
  const runs = address.match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? [];
  const longest = runs.toSorted((a, b) => b.length - a.length)[0];
  if (longest === undefined) return address;
  const at = address.indexOf(longest);
  const rest = address.slice(at + longest.length).replace(/^:/, '');
  return `${address.slice(0, at)}::${rest}`;
}
