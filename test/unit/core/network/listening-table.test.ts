import { expect, it } from 'vitest';

import { listeningIn } from '../../../../src/core/listening-table.js';

const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const line = (local: string, state: string, inode: number) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000 100 0 0 10 0\n`;

it.each([
  ['0100007F:1F97', '127.0.0.1', 8087],
  ['00000000:0050', '0.0.0.0', 80],
  ['00000000000000000000000000000000:0016', '::', 22],
  ['00000000000000000000000001000000:01BB', '::1', 443],
  ['0000000000000000FFFF00000100007F:1F90', '::ffff:7f00:1', 8080],
  ['B80D0120000000000000000001000000:0001', '2001:db8::1', 1],
])('%s is %s port %i', (written, address, port) => {
  expect(listeningIn(HEADER + line(written, '0A', 42), true)).toEqual([{ address, port, inode: 42 }]);
});

it('leaves out connections, and reads the other order of bytes', () => {
  const table = HEADER + line('0100007F:1F97', '01', 1) + line('7F000001:1F97', '0A', 2);
  expect(listeningIn(table, false)).toEqual([{ address: '127.0.0.1', port: 8087, inode: 2 }]);
});
