/** What a blocked thread waits for. */
export interface WaitSet {
  /** Descriptors from which it waits for input: of read(2) its one, of epoll_wait(2) the epoll instance itself. */
  readonly descriptors: readonly number[];
  /** Time-out of the wait, in milliseconds; Infinity for none. */
  readonly timeoutMs: number;
}

/** Reads memory of the thread's process; undefined when that is not allowed, or the process has ended. */
export type ReadMemory = (address: number, bytes: number) => Buffer | undefined;

/** Reads what the arguments of a call describe. They are as /proc/PID/syscall writes them: `0x7f…`. */
type ReadArguments = (args: readonly string[], memory: ReadMemory) => WaitSet | undefined;

/** Most descriptors of one call that are looked at. */
const MAX_DESCRIPTORS = 4096;
const POLLFD_BYTES = 8;
const TIME_BYTES = 16;
/** POLLIN and POLLRDNORM, which epoll has with the same values: poll(2). */
const INPUT_EVENTS = 0x41;
const POLL_X64 = '7';

const integer = (text = '0'): number => Number(BigInt.asIntN(32, BigInt(text)));
const milliseconds = (text: string | undefined): number => {
  const value = integer(text);
  return value < 0 ? Infinity : value;
};

/** The time at an address. The unit of its second word is part of a second: nanoseconds, or microseconds. */
function timeAt(address: string | undefined, unitsPerMs: number, memory: ReadMemory): number {
  const bytes = Number(address) === 0 ? undefined : memory(Number(address), TIME_BYTES);
  return bytes ? Number(bytes.readBigInt64LE(0)) * 1000 + Number(bytes.readBigInt64LE(8)) / unitsPerMs : Infinity;
}
const NANOSECONDS = 1e6;
const MICROSECONDS = 1e3;

const single: ReadArguments = ([descriptor]) => ({ descriptors: [integer(descriptor)], timeoutMs: Infinity });

function polled(args: readonly string[], memory: ReadMemory): number[] | undefined {
  const count = Math.min(Number(args[1]), MAX_DESCRIPTORS);
  const bytes = count === 0 ? Buffer.of() : memory(Number(args[0]), count * POLLFD_BYTES);
  if (!bytes) return undefined;
  const entries = Array.from({ length: Math.floor(bytes.length / POLLFD_BYTES) }, (_, index) => index * POLLFD_BYTES);
  return entries
    .filter((at) => (bytes.readInt16LE(at + 4) & INPUT_EVENTS) !== 0)
    .map((at) => bytes.readInt32LE(at))
    .filter((descriptor) => descriptor >= 0);
}

function selected(args: readonly string[], memory: ReadMemory): number[] | undefined {
  const count = Math.min(integer(args[0]), MAX_DESCRIPTORS);
  if (count <= 0 || Number(args[1]) === 0) return [];
  // The kernel has words of 64 bits: select(2).
  const bytes = memory(Number(args[1]), Math.ceil(count / 64) * 8);
  if (!bytes) return undefined;
  return Array.from({ length: count }, (_, index) => index).filter(
    (descriptor) => ((bytes[descriptor >> 3] ?? 0) & (1 << (descriptor & 7))) !== 0,
  );
}

const waitSet = (descriptors: readonly number[] | undefined, timeoutMs: number): WaitSet | undefined =>
  descriptors && { descriptors, timeoutMs };

const poll: ReadArguments = (args, memory) => waitSet(polled(args, memory), milliseconds(args[2]));
const ppoll: ReadArguments = (args, memory) => waitSet(polled(args, memory), timeAt(args[2], NANOSECONDS, memory));
const select =
  (unitsPerMs: number): ReadArguments =>
  (args, memory) =>
    waitSet(selected(args, memory), timeAt(args[4], unitsPerMs, memory));
const epoll: ReadArguments = (args) => waitSet([integer(args[0])], milliseconds(args[3]));
const epoll2: ReadArguments = (args, memory) => waitSet([integer(args[0])], timeAt(args[3], NANOSECONDS, memory));

/** The calls that wait for input, by their numbers: the tables `syscall_64.tbl` and `unistd.h` of the kernel. */
const CALLS: Partial<Record<NodeJS.Architecture, Readonly<Partial<Record<string, ReadArguments>>>>> = {
  x64: {
    0: single,
    17: single,
    19: single,
    45: single,
    47: single,
    [POLL_X64]: poll,
    271: ppoll,
    23: select(MICROSECONDS),
    270: select(NANOSECONDS),
    232: epoll,
    281: epoll,
    441: epoll2,
  },
  arm64: {
    63: single,
    65: single,
    67: single,
    207: single,
    212: single,
    73: ppoll,
    72: select(NANOSECONDS),
    22: epoll,
    441: epoll2,
  },
};

/** Number of restart_syscall(2), which goes on with poll(2) after a stop; pselect6(2) and the others are called again. */
const RESTARTED_POLL: Partial<Record<NodeJS.Architecture, string>> = { x64: '219' };

/** A thread, as /proc shows it: `syscall` and `wchan` of proc(5). */
export interface BlockedThread {
  readonly syscall: string;
  readonly wchan: () => string | undefined;
}

/**
 * Returns for which descriptors a thread waits; undefined when it waits for none, or that cannot be told.
 * @param memory of its process
 */
export function waitSetOf(
  { syscall, wchan }: BlockedThread,
  memory: ReadMemory,
  architecture: NodeJS.Architecture = process.arch,
): WaitSet | undefined {
  const [number = '', ...args] = syscall.trim().split(' ');
  const isPoll = number === RESTARTED_POLL[architecture] && wchan()?.includes('poll') === true;
  return CALLS[architecture]?.[isPoll ? POLL_X64 : number]?.(args, memory);
}

/** Returns the descriptors of an epoll instance from which input is waited for: the lines `tfd` of its fdinfo, proc(5). */
export const epollDescriptors = (fdinfo: string): number[] =>
  [...fdinfo.matchAll(/^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm)]
    .filter(([, , events = '']) => (Number.parseInt(events, 16) & INPUT_EVENTS) !== 0)
    .map(([, descriptor]) => Number(descriptor));

/** Whether a file is open for reading and writing, or only for one: the line `flags` of fdinfo, which is octal. */
export function accessOf(fdinfo: string): 'read' | 'write' | 'both' {
  const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(fdinfo)?.[1] ?? '0', 8) & 3;
  return flags === 0 ? 'read' : flags === 1 ? 'write' : 'both';
}

/** Number of the terminal whose other end this is: the line `tty-index` of the fdinfo of /dev/ptmx. */
export const terminalIndex = (fdinfo: string): number => Number(/^tty-index:\s*(\d+)/m.exec(fdinfo)?.[1] ?? NaN);

/** Device number of the controlling terminal of a process, as its `stat` has it (proc(5)); 0 without one. */
export const controllingTerminal = (stat: string): number =>
  Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4] ?? 0);

/** Inodes of the connected unix sockets in /proc/PID/net/unix, with whether each has a name. */
export function connectedUnixSockets(table: string): Map<number, { readonly hasName: boolean }> {
  // Num RefCount Protocol Flags Type St Inode Path; state 3 is SS_CONNECTED.
  const lines = table.matchAll(/^\S+: \S+ \S+ \S+ \S+ 03 +(\d+)( .*)?$/gm);
  return new Map([...lines].map(([, inode, name]) => [Number(inode), { hasName: name !== undefined }]));
}

/** Whether a process has words of 64 bits: in its `auxv` (proc(5)), the first key takes 8 bytes then, and is small. */
export const isFor64Bits = (auxv: string): boolean => auxv.slice(4, 8) === '\0\0\0\0';
