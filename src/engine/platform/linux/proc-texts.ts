import type { CpuTime, MemoryBytes, NetBytes } from '../contract/machine.js';

/** Fields of the line `cpu` whose time is idle: `idle` and `iowait`. Source: proc_stat(5). */
const IDLE_FIELDS: ReadonlySet<number> = new Set([3, 4]);
/** Fields that count; `guest` and `guest_nice` after them are contained in `user` and `nice`. */
const CPU_FIELDS = 8;

/** Reads the first line of /proc/stat: in clock ticks since the machine started. */
export function parseCpuTicks(text: string): CpuTime | undefined {
  const fields = /^cpu +([\d ]+)/.exec(text)?.[1]?.split(' ').map(Number).slice(0, CPU_FIELDS);
  if (!fields) return undefined;
  const total = fields.reduce((sum, ticks) => sum + ticks, 0);
  const idle = fields.reduce((sum, ticks, index) => sum + (IDLE_FIELDS.has(index) ? ticks : 0), 0);
  return { busy: total - idle, total };
}

/** Columns of /proc/net/dev after the name of an interface. */
const RECEIVED_COLUMN = 0;
const SENT_COLUMN = 8;

/** Reads /proc/net/dev. */
export function parseNetBytes(text: string): NetBytes {
  let received = 0;
  let sent = 0;
  for (const [, name = '', rest = ''] of text.matchAll(/^ *([^\s:|]+): *(\d.*)$/gm)) {
    if (name === 'lo') continue;
    const columns = rest.split(/ +/).map(Number);
    received += columns[RECEIVED_COLUMN] ?? 0;
    sent += columns[SENT_COLUMN] ?? 0;
  }
  return { received, sent };
}

const KIB = 1024;

/** Reads /proc/meminfo. */
export function parseMemory(text: string): MemoryBytes | undefined {
  const [total, available] = ['MemTotal', 'MemAvailable'].map((name) => {
    return Number(new RegExp(`^${name}: *(\\d+) kB$`, 'm').exec(text)?.[1] ?? NaN) * KIB;
  });
  if (total === undefined || available === undefined || Number.isNaN(total + available)) return undefined;
  return { total, used: total - available };
}

/** Reads the load average of the last minute from /proc/loadavg. */
export const parseLoad = (text: string): number => Number(/^[\d.]+/.exec(text)?.[0] ?? 0);

/** Reads a number from a file with lines such as `inactive_file 4096`; 0 when it has none. */
export const parseField = (text: string, name: string): number =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
