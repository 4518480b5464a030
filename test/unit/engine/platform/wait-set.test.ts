import { describe, expect, it } from 'vitest';

import {
  accessOf,
  connectedUnixSockets,
  controllingTerminal,
  epollDescriptors,
  isFor64Bits,
  terminalIndex,
  waitSetOf,
} from '../../../../src/engine/platform/linux/wait-set.js';

const POLLIN = 1;
const POLLOUT = 4;
const TAIL = '0x0 0x0 0x7ffd2b1b5c58 0x7f1b2c0e8fd2\n';

/** Memory with some bytes at one address. */
const memoryWith = (address: number, content: Buffer) => (asked: number, bytes: number) =>
  asked >= address && asked + bytes <= address + content.length
    ? content.subarray(asked - address, asked - address + bytes)
    : undefined;
const NO_MEMORY = () => undefined;

function pollSet(...entries: readonly (readonly [descriptor: number, events: number])[]): Buffer {
  const bytes = Buffer.alloc(entries.length * 8);
  for (const [index, [descriptor, events]] of entries.entries()) {
    bytes.writeInt32LE(descriptor, index * 8);
    bytes.writeInt16LE(events, index * 8 + 4);
  }
  return bytes;
}

function bits(size: number, ...descriptors: readonly number[]): Buffer {
  const bytes = Buffer.alloc(size);
  for (const descriptor of descriptors) bytes[descriptor >> 3]! |= 1 << (descriptor & 7);
  return bytes;
}

function time(seconds: number, part: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigInt64LE(BigInt(seconds), 0);
  bytes.writeBigInt64LE(BigInt(part), 8);
  return bytes;
}

const of = (descriptors: readonly number[], timeoutMs = Infinity) => ({ descriptors, timeoutMs });

interface Row {
  readonly title: string;
  /** The line of /proc/PID/syscall without the stack and the instruction. */
  readonly call: string;
  readonly memory?: Buffer;
  readonly wchan?: string;
  readonly architecture?: NodeJS.Architecture;
  readonly expected: ReturnType<typeof waitSetOf>;
}

const AT = 0x7ffe6aea05d0;
const ROWS: readonly Row[] = [
  { title: 'read', call: '0 0x0 0x7f6d0c000b90 0x400 0x22', expected: of([0]) },
  { title: 'read on arm64', call: '63 0x3 0xffffd80c4be0 0x1', architecture: 'arm64', expected: of([3]) },
  { title: 'what is read on another architecture', call: '63 0x3 0x1 0x1', expected: undefined },
  {
    title: 'poll: only what it wants to read',
    call: '7 0x7ffe6aea05d0 0x4 0xffffffff 0x19',
    memory: pollSet([0, POLLIN], [3, POLLIN | POLLOUT], [4, POLLOUT], [-1, POLLIN]),
    expected: of([0, 3]),
  },
  {
    title: 'poll with a time-out',
    call: '7 0x7ffe6aea05d0 0x1 0xfa0 0x0',
    memory: pollSet([5, 0x40]),
    expected: of([5], 4000),
  },
  { title: 'poll of nothing', call: '7 0x0 0x0 0x927c0 0x0', expected: of([], 600_000) },
  { title: 'poll whose memory is not shown', call: '7 0x7ffe6aea05d0 0x1 0xfa0 0x0', expected: undefined },
  {
    title: 'poll that goes on after a stop',
    call: '219 0x7ffe6aea05d0 0x1 0xffffffff 0x0',
    memory: pollSet([0, POLLIN]),
    wchan: 'poll_schedule_timeout.constprop.0',
    expected: of([0]),
  },
  {
    title: 'a sleep that goes on after a stop',
    call: '219 0x0 0x0 0x7ffe6aea05d0 0x0',
    wchan: 'hrtimer_nanosleep',
    expected: undefined,
  },
  {
    title: 'ppoll with a time',
    call: '271 0x7ffe6aea05d0 0x1 0x7ffe6aea05d8 0x0',
    memory: Buffer.concat([pollSet([0, POLLIN]), time(2, 500_000_000)]),
    expected: of([0], 2500),
  },
  {
    title: 'ppoll on arm64',
    call: '73 0x7ffe6aea05d0 0x1 0x0 0x0',
    memory: pollSet([0, POLLIN]),
    architecture: 'arm64',
    expected: of([0]),
  },
  {
    title: 'select with a time in microseconds',
    call: '23 0x46 0x7ffe6aea05d0 0x0 0x0 0x7ffe6aea05e0',
    memory: Buffer.concat([bits(16, 0, 5, 69), time(1, 500_000)]),
    expected: of([0, 5, 69], 1500),
  },
  {
    title: 'pselect with a time in nanoseconds',
    call: '270 0x1 0x7ffe6aea05d0 0x0 0x0 0x7ffe6aea05d8',
    memory: Buffer.concat([bits(8, 0), time(0, 500_000)]),
    expected: of([0], 0.5),
  },
  { title: 'select of nothing', call: '23 0x0 0x0 0x0 0x0 0x0', expected: of([]) },
  {
    title: 'pselect on arm64',
    call: '72 0x4 0x7ffe6aea05d0 0x0 0x0 0x0',
    memory: bits(8, 0, 3),
    architecture: 'arm64',
    expected: of([0, 3]),
  },
  { title: 'epoll, whose set the kernel has', call: '232 0xd 0x7ffc 0x400 0xffffffff', expected: of([13]) },
  { title: 'epoll_pwait with a time-out', call: '281 0x4 0x7ffc 0x400 0x1f40', expected: of([4], 8000) },
  { title: 'epoll_pwait on arm64', call: '22 0x4 0x7ffc 0x400 0xffffffff', architecture: 'arm64', expected: of([4]) },
  {
    title: 'epoll_pwait2',
    call: '441 0x4 0x7ffc 0x400 0x7ffe6aea05d0',
    memory: time(3, 0),
    expected: of([4], 3000),
  },
  { title: 'recvmsg', call: '47 0x6 0x7ffe 0x0', expected: of([6]) },
  { title: 'a wait for a child', call: '61 0xffffffff 0x7ffe 0x0 0x0', expected: undefined },
];

describe('what a blocked thread waits for', () => {
  it.each(ROWS)('$title', ({ call, memory, wchan, architecture = 'x64', expected }) => {
    const thread = { syscall: `${call} ${TAIL}`, wchan: () => wchan };
    expect(waitSetOf(thread, memory ? memoryWith(AT, memory) : NO_MEMORY, architecture)).toEqual(expected);
  });

  it.each(['running\n', '-1 0x7ffd2b1b5c58 0x7f1b2c0e8fd2\n', ''])('nothing: %j', (syscall) => {
    expect(waitSetOf({ syscall, wchan: () => undefined }, NO_MEMORY, 'x64')).toBeUndefined();
  });
});

describe('files of /proc', () => {
  it('an epoll instance: only what it wants to read', () => {
    const fdinfo = `pos:\t0
flags:\t02000002
mnt_id:\t17
ino:\t1038
tfd:       15 events:       19 data:               15  pos:0 ino:40e sdev:f
tfd:       18 events: 80000018 data:               18  pos:0 ino:6 sdev:19
tfd:        0 events:        1 data:                0  pos:0 ino:5 sdev:19
`;
    expect(epollDescriptors(fdinfo)).toEqual([15, 0]);
  });

  it.each([
    ['0100000', 'read'],
    ['0100001', 'write'],
    ['02004002', 'both'],
  ])('flags %s: %s', (flags, expected) => {
    expect(accessOf(`pos:\t0\nflags:\t${flags}\nmnt_id:\t14\n`)).toBe(expected);
  });

  it('the terminal behind /dev/ptmx', () => {
    expect(terminalIndex('pos:\t0\nflags:\t0104002\nmnt_id:\t24\nino:\t91\ntty-index:\t12\n')).toBe(12);
  });

  it('the controlling terminal of a program with blanks and parentheses in its name', () => {
    expect(controllingTerminal('812 (a ) b) S 1 812 812 34820 812 4194304 99 0')).toBe((136 << 8) | 4);
  });

  it('connected unix sockets, with and without a name', () => {
    const table = `Num       RefCount Protocol Flags    Type St Inode Path
00000000b1b9daaf: 00000003 00000000 00000000 0001 03 243778
000000002f66e0c1: 00000003 00000000 00000000 0001 03  1148 /run/a b.sock
00000000c4b5ba11: 00000002 00000000 00010000 0001 01  1149 /run/listens.sock
`;
    expect([...connectedUnixSockets(table)]).toEqual([
      [243778, { hasName: false }],
      [1148, { hasName: true }],
    ]);
  });

  it.each([
    ['64 bits', [0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0xe0, 0xfe, 0xb8], true],
    ['32 bits', [0x20, 0, 0, 0, 0x70, 0xb5, 0xf7, 0xf7, 0x21, 0, 0, 0], false],
    ['nothing', [], false],
  ])('the word size: %s', (_title, bytes, expected) => {
    expect(isFor64Bits(Buffer.from(bytes).toString('latin1'))).toBe(expected);
  });
});
