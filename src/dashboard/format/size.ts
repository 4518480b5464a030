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
