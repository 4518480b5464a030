/**
 * A seccomp filter for the socket families of a sandbox: a program of the kernel's classic BPF, in the form that
 * `bwrap --seccomp` reads. Sources: seccomp(2), linux/filter.h, linux/seccomp.h, linux/audit.h.
 */

/** An ABI in which a process may make system calls, with the numbers of those that are judged. */
interface CallTable {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly architecture: number;
  readonly socket: number;
  readonly socketpair: number;
  /** The call of i386 that stands for all socket calls: its arguments are in memory, which a filter cannot read. */
  readonly socketcall?: number;
  /** Numbers from here on belong to the x32 ABI, which has the same architecture and other numbers. */
  readonly x32From?: number;
}

/** io_uring makes sockets without the call socket(2). The number is the same for all architectures. */
const IO_URING_SETUP = 425;

const CALL_TABLES: Readonly<Record<string, readonly CallTable[]>> = {
  x64: [
    { architecture: 0xc000003e, socket: 41, socketpair: 53, x32From: 0x40000000 },
    { architecture: 0x40000003, socket: 359, socketpair: 360, socketcall: 102 },
  ],
  arm64: [
    { architecture: 0xc00000b7, socket: 198, socketpair: 199 },
    { architecture: 0x40000028, socket: 281, socketpair: 288 },
  ],
};

const FAMILY = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
/** Types of pairs that cannot be connected to another socket later, as datagram sockets can. */
const PAIR_TYPES = [1, 5];
/** Part of a type that is not a flag: SOCK_TYPE_MASK of linux/net.h. */
const TYPE_MASK = 0xf;

const RETURN_ALLOW = 0x7fff0000;
const RETURN_ERRNO = 0x00050000;
const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** Offsets in struct seccomp_data, little-endian: the kernel ignores the upper half of an int argument. */
const OFFSET = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24 } as const;

const BPF = { load: 0x20, jumpIfEqual: 0x15, jumpIfAtLeast: 0x35, and: 0x54, return: 0x06 } as const;

/** Size of struct sock_filter, in bytes. */
const INSTRUCTION_BYTES = 8;

interface Instruction {
  readonly code: number;
  readonly value: number;
  /**
   * Number of instructions that are skipped when a comparison does not hold.
   * @default 0
   */
  readonly skip?: number;
}

/** Which sockets programs can make. */
interface SocketRules {
  /** Whether programs can make Unix sockets, besides pairs that are connected to each other. */
  readonly unixSockets: boolean;
}

/**
 * Returns a filter under which programs can make Internet sockets, and Unix sockets only if the rules say so. Every other
 * family (vsock, packet, Bluetooth, the kernel's cryptography…) does not exist.
 * @param architecture as Node.js names it; undefined is returned for an unknown one
 */
export function socketFilter(architecture: string, rules: SocketRules): Uint8Array | undefined {
  const tables = CALL_TABLES[architecture];
  if (!tables) return undefined;
  const program = [
    load(OFFSET.architecture),
    ...tables.flatMap((table) => {
      const checks = checksOf(table, rules);
      return [{ code: BPF.jumpIfEqual, value: table.architecture, skip: checks.length }, ...checks];
    }),
    refuse(ERRNO.ENOSYS),
  ];
  return encode(program);
}

function checksOf({ socket, socketpair, socketcall, x32From }: CallTable, rules: SocketRules): readonly Instruction[] {
  const families = [FAMILY.inet, FAMILY.inet6, FAMILY.netlink, ...(rules.unixSockets ? [FAMILY.unix] : [])];
  return [
    load(OFFSET.number),
    ...(x32From === undefined ? [] : when(BPF.jumpIfAtLeast, x32From, [refuse(ERRNO.ENOSYS)])),
    ...when(BPF.jumpIfEqual, IO_URING_SETUP, [refuse(ERRNO.ENOSYS)]),
    ...(socketcall === undefined ? [] : when(BPF.jumpIfEqual, socketcall, [refuse(ERRNO.ENOSYS)])),
    ...when(BPF.jumpIfEqual, socket, [
      load(OFFSET.firstArgument),
      ...families.flatMap((family) => when(BPF.jumpIfEqual, family, [allow])),
      ...when(BPF.jumpIfEqual, FAMILY.unix, [refuse(ERRNO.EPERM)]),
      refuse(ERRNO.EAFNOSUPPORT),
    ]),
    ...(rules.unixSockets ? [] : when(BPF.jumpIfEqual, socketpair, pairChecks())),
    allow,
  ];
}

function pairChecks(): readonly Instruction[] {
  return [
    load(OFFSET.secondArgument),
    { code: BPF.and, value: TYPE_MASK },
    ...PAIR_TYPES.flatMap((type) => when(BPF.jumpIfEqual, type, [allow])),
    refuse(ERRNO.EPERM),
  ];
}

const load = (offset: number): Instruction => ({ code: BPF.load, value: offset });
const allow: Instruction = { code: BPF.return, value: RETURN_ALLOW };
const refuse = (errno: number): Instruction => ({ code: BPF.return, value: RETURN_ERRNO | errno });

/** Instructions that run only when the loaded value compares; they end with a return. */
const when = (code: number, value: number, then: readonly Instruction[]): readonly Instruction[] => [
  { code, value, skip: then.length },
  ...then,
];

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * INSTRUCTION_BYTES);
  const view = new DataView(bytes.buffer);
  program.forEach(({ code, value, skip = 0 }, index) => {
    const at = index * INSTRUCTION_BYTES;
    view.setUint16(at, code, true);
    view.setUint8(at + 3, skip);
    view.setUint32(at + 4, value >>> 0, true);
  });
  return bytes;
}
