import type { LogLevel } from '../config/model/configuration.js';
import type { LogField, LogFieldSpec, LogFormat } from '../config/sections/log-format.js';

/** A log record before rendering. */
export interface LogRecord {
  readonly time: Date;
  readonly level: LogLevel;
  /** The component, such as `shell_adapter.sessions`. */
  readonly name: string;
  readonly processId: number;
  /** The message with its facts, on one line. */
  readonly message: string;
}

/** Numeric levels of Python. Source: https://docs.python.org/3/library/logging.html#logging-levels */
const LEVEL_NUMBERS: Readonly<Record<LogLevel, number>> = { DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, CRITICAL: 50 };

/** Decimals of `%f` without a precision. */
const DEFAULT_DECIMALS = 6;

/** Renders a record in a format, without a newline. */
export function renderRecord(format: LogFormat, record: LogRecord): string {
  return format.map((part) => (typeof part === 'string' ? part : renderField(part, record))).join('');
}

/** Local time in the format of Python's logging: `2026-11-21 21:43:23,123`. */
function formatTime(time: Date): string {
  const date = [time.getFullYear(), pad(time.getMonth() + 1, 2), pad(time.getDate(), 2)].join('-');
  return `${date} ${formatClock(time)},${pad(time.getMilliseconds(), 3)}`;
}

/** Local time of day: `21:43:23`. */
export function formatClock(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => pad(part, 2)).join(':');
}

function renderField(spec: LogFieldSpec, record: LogRecord): string {
  const text = convert(valueOf(spec.field, record), spec);
  return spec.align === 'left' ? text.padEnd(spec.width) : text.padStart(spec.width, spec.fill);
}

function valueOf(field: LogField, record: LogRecord): string | number {
  switch (field) {
    case 'asctime':
      return formatTime(record.time);
    case 'created':
      return record.time.getTime() / 1000;
    case 'levelname':
      return record.level;
    case 'levelno':
      return LEVEL_NUMBERS[record.level];
    case 'message':
      return record.message;
    case 'msecs':
      return record.time.getMilliseconds();
    case 'name':
      return record.name;
    case 'process':
      return record.processId;
  }
}

function convert(value: string | number, { conversion, precision }: LogFieldSpec): string {
  if (typeof value === 'number' && conversion === 'f') return value.toFixed(precision ?? DEFAULT_DECIMALS);
  if (typeof value === 'number' && conversion === 'd') return String(Math.trunc(value));
  return String(value).slice(0, precision);
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
