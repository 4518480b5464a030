const SECOND_MS = 1000;
const MINUTE_S = 60;
const HOUR_S = 3600;

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats a position in a recording as `0:07`, `12:30` or `1:02:03`. */
export function formatPosition(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / SECOND_MS);
  const minutes = Math.floor((seconds % HOUR_S) / MINUTE_S);
  const rest = two(seconds % MINUTE_S);
  const hours = Math.floor(seconds / HOUR_S);
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Steps between units: those of the command line and of the settings, where a MB has 1024 KB. */
const STEP = 1024;

/** Formats a number of bytes with at most one decimal, such as `1.4 MB`. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  const text = unit === 0 || value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, '');
  return `${text} ${UNITS[unit] ?? 'B'}`;
}

/** Formats a rate in bytes a second. */
export const formatRate = (bytesPerSecond: number): string => `${formatBytes(bytesPerSecond)}/s`;

/** Formats a percentage: one decimal below 10, none above. */
export const formatPercent = (percent: number): string =>
  `${percent < 10 ? percent.toFixed(1).replace(/\.0$/, '') : String(Math.round(percent))} %`;

const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration by its two largest units, such as `350 ms`, `4.2 s`, `3 min 07 s`, `2 h 15 min` or `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < SECOND_MS) return `${Math.round(rest)} ms`;
  if (rest < 10 * SECOND_MS) return `${(Math.floor(rest / 100) / 10).toFixed(1)} s`;
  if (rest < MINUTE_MS) return `${Math.floor(rest / SECOND_MS)} s`;
  if (rest < HOUR_MS) return `${Math.floor(rest / MINUTE_MS)} min ${two(Math.floor((rest % MINUTE_MS) / SECOND_MS))} s`;
  if (rest < DAY_MS) return `${Math.floor(rest / HOUR_MS)} h ${two(Math.floor((rest % HOUR_MS) / MINUTE_MS))} min`;
  return `${Math.floor(rest / DAY_MS)} d ${Math.floor((rest % DAY_MS) / HOUR_MS)} h`;
}

/** Formats a point in time by its distance from now, such as `12 s ago` or `in 4 min`; the largest unit alone. */
export function formatRelative(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < SECOND_MS) return 'now';
  const text = largestUnit(distance);
  return at <= now ? `${text} ago` : `in ${text}`;
}

function largestUnit(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** Formats a time of day as `14:03:27`, in the zone of the browser. */
export function formatClock(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Formats a date and a time as `2026-01-31 14:03:27`, in the zone of the browser. */
export function formatDateTime(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${formatClock(at)}`;
}

/** Formats a number with its noun, such as `1 session` or `3 sessions`. */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;

/** Joins words as a sentence does: `a`, `a or b`, `a, b or c`. */
export function either(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}
