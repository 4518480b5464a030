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
