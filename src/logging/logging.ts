import { once } from 'node:events';
import { Writable } from 'node:stream';

import winston from 'winston';

import type { LoggingConfiguration, LogLevel } from '../config/model/configuration.js';
import type { LogField, LogFieldSpec, LogFormat } from '../config/sections/records.js';
import type { Log } from '../core/log.js';
import { RotatingAppender } from '../files/rotating-appender.js';

/**
 * Most bytes that may wait for a terminal or pipe without a reader; further lines are dropped. Bounds the daemon's
 * memory.
 */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Standard error, or a stand-in for it. */
interface ConsoleStream extends NodeJS.EventEmitter {
  /** Bytes that were written to the stream and are still buffered. */
  readonly writableLength: number;
  /** True for a terminal. */
  readonly isTTY?: boolean;
  write(text: string, done?: () => void): boolean;
  /** Whether the terminal supports colours and NO_COLOR is not set. */
  hasColors?(): boolean;
}

/**
 * Writes lines for people. When the terminal has hung up or the pipe is closed, lines are lost and nothing else
 * happens: the one error listener stays on the stream, since an error may occur at any time after the last line.
 */
class ConsoleLines {
  readonly isColoured: boolean;
  readonly #stream: ConsoleStream;

  constructor(stream: ConsoleStream) {
    this.#stream = stream;
    this.isColoured = stream.isTTY === true && stream.hasColors?.() === true;
    if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
  }

  /** Writes a line, given without its newline. */
  write(line: string): void {
    if (this.#stream.writableLength <= MAX_WAITING_BYTES) this.#stream.write(`${line}\n`);
  }
}

function ignore(): void {
  // A line that cannot be written is dropped.
}

/**
 * Characters that must be escaped in a record: control characters (C0, DEL, C1), line and paragraph separators,
 * bidirectional controls, and lone surrogates. Records can contain output of commands: it must neither start a record
 * of its own nor send control sequences to the terminal that shows the log.
 */
const UNSAFE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, with unsafe characters written as in JSON (`\n`, `\u001b`). */
export function escapeLine(text: string): string {
  return text.replace(UNSAFE, (character) => {
    return SHORT_ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Longest value of a fact in a record, in characters: a record is not meant for the output of a command. */
const MAX_VALUE_LENGTH = 8192;

/** Values that need no quotes. */
const BARE = /^[\w./:@%+,~-]+$/;

/** The facts of a record as ` key=value key="two words"`, in their order; empty when there are none. Never throws. */
export function formatFacts(facts: Readonly<Record<string, unknown>> | undefined): string {
  if (facts === undefined) return '';
  try {
    return Object.entries(facts)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => ` ${quoteUnlessBare(key)}=${formatValue(value)}`)
      .join('');
  } catch (error) {
    // A getter or a toJSON of a foreign object may throw.
    return ` facts_error=${quoteUnlessBare(String(error))}`;
  }
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return quoteUnlessBare(value);
  if (value instanceof Error) return quoteUnlessBare(describeError(value));
  if (ArrayBuffer.isView(value)) return `<${value.byteLength} bytes>`;
  if (typeof value === 'object' && value !== null) return shorten(escapeLine(toJson(value) ?? 'undefined'));
  return quoteUnlessBare(String(value));
}

/** Includes the stack, which debugging needs. If the stack lacks the error's text, the text is put in front of it. */
function describeError(error: Error): string {
  const text = `${error.name}: ${error.message}`;
  const stack = error.stack ?? text;
  const described = stack.includes(error.message) ? stack : `${text}\n${stack}`;
  return error.cause instanceof Error ? `${described}\ncaused by ${describeError(error.cause)}` : described;
}

/** Undefined for an object whose toJSON returns undefined; the type of the standard library omits that case. */
function toJson(value: object): string | undefined {
  const above: object[] = [];
  return JSON.stringify(value, function (this: object, _key, inner: unknown) {
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (typeof inner === 'bigint') return String(inner);
    if (inner instanceof Error) return describeError(inner);
    if (typeof inner !== 'object' || inner === null) return inner;
    if (above.includes(inner)) return '<circular>';
    above.push(inner);
    return inner;
  });
}

function quoteUnlessBare(text: string): string {
  const short = shorten(text);
  return BARE.test(short) ? short : escapeLine(JSON.stringify(short));
}

function shorten(text: string): string {
  if (text.length <= MAX_VALUE_LENGTH) return text;
  return `${text.slice(0, MAX_VALUE_LENGTH)}… (${text.length - MAX_VALUE_LENGTH} more)`;
}

/** A log record before rendering. */
interface LogRecord {
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
function formatClock(time: Date): string {
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

/** Name of the records without a component, and prefix of all others. */
const ROOT_NAME = 'shell_adapter';

/** Bounds of the lines that wait for a slow disk; further ones are dropped. Bounds the daemon's memory. */
const MAX_QUEUED_LINES = 100_000;
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;

/** Smaller is more severe, as in winston. */
const LEVELS: Readonly<Record<LogLevel, number>> = { CRITICAL: 0, ERROR: 1, WARNING: 2, INFO: 3, DEBUG: 4 };

const COLORS: Readonly<Record<LogLevel, string>> = {
  CRITICAL: 'magenta',
  ERROR: 'red',
  WARNING: 'yellow',
  INFO: 'green',
  DEBUG: 'gray',
};

/** Dependencies of `createLogging`. */
export interface LoggingOptions {
  /** Whether records are also written to `stderr`, in a short form for people. */
  readonly console: boolean;
  /**
   * Destination of those records, and of the notice that the log file cannot be written.
   * @default standard error of the process
   */
  readonly stderr?: ConsoleStream;
  /**
   * Masks secrets in a text.
   * @default no masking
   */
  readonly mask?: (text: string) => string;
  /**
   * Returns the time of a record.
   * @default the system clock
   */
  readonly now?: () => Date;
}

/**
 * Starts logging to a rotated file and optionally to standard error. When the file cannot be written, one notice is
 * printed on standard error, and records are dropped and counted. Once the file can be written again, it continues with
 * the number of dropped records.
 */
export function createLogging(configuration: LoggingConfiguration, options: LoggingOptions): Logging {
  return new Logging(configuration, options);
}

/** The log of the daemon. */
export class Logging implements AsyncDisposable {
  readonly #now: () => Date;
  readonly #mask: (text: string) => string;
  readonly #console: ConsoleLines;
  readonly #logger: winston.Logger;
  /** Files that a reconfiguration has replaced and that still have lines to write. */
  readonly #closing = new Set<Promise<void>>();
  #configuration: LoggingConfiguration;
  #file: RotatingAppender<Buffer>;
  #closed: Promise<void> | undefined;

  constructor(configuration: LoggingConfiguration, options: LoggingOptions) {
    this.#configuration = configuration;
    this.#now = options.now ?? (() => new Date());
    this.#mask = options.mask ?? ((text) => text);
    this.#console = new ConsoleLines(options.stderr ?? process.stderr);
    this.#file = this.#createFile();
    const toFile = createTransport((record) => {
      this.#file.add(this.#renderLine(record));
    });
    const toConsole = createTransport((record) => {
      this.#console.write(renderForPeople(record, this.#console.isColoured));
    });
    this.#logger = winston.createLogger({
      levels: LEVELS,
      level: configuration.loggingLevel,
      format: winston.format((info) => info)(),
      transports: options.console ? [toFile, toConsole] : [toFile],
    });
  }

  /** Logger of a component: `sessions` logs as `shell_adapter.sessions`. Without a name: `shell_adapter`. */
  component(name?: string): Log {
    const fullName = name === undefined ? ROOT_NAME : `${ROOT_NAME}.${name}`;
    return {
      debug: (message, facts) => this.#log('DEBUG', fullName, message, facts),
      info: (message, facts) => this.#log('INFO', fullName, message, facts),
      warn: (message, facts) => this.#log('WARNING', fullName, message, facts),
      error: (message, facts) => this.#log('ERROR', fullName, message, facts),
    };
  }

  /** Applies another configuration: level and format at once, the file from the next record on. */
  reconfigure(configuration: LoggingConfiguration): void {
    const { logFilePath, maxLogSizeBytes, backupCount } = this.#configuration;
    this.#configuration = configuration;
    this.#logger.level = configuration.loggingLevel;
    if (
      logFilePath === configuration.logFilePath &&
      maxLogSizeBytes === configuration.maxLogSizeBytes &&
      backupCount === configuration.backupCount
    ) {
      return;
    }
    const closing = this.#file.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    this.#file = this.#createFile();
  }

  /** Resolves when everything has been written. Never rejects. Idempotent. Later records are dropped. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const flushed = this.#logger.transports.map((transport) => once(transport, 'finish'));
    this.#logger.end();
    await Promise.all(flushed);
    await Promise.all([this.#file.close(), ...this.#closing]);
  }

  #log(level: LogLevel, name: string, message: string, facts: Record<string, unknown> | undefined): void {
    if (this.#closed !== undefined || LEVELS[level] > LEVELS[this.#configuration.loggingLevel]) return;
    const text = this.#mask(escapeLine(message) + formatFacts(facts));
    this.#logger.log({ level, message: text, record: this.#createRecord(level, name, text) });
  }

  #createRecord(level: LogLevel, name: string, message: string): LogRecord {
    return { time: this.#now(), level, name, processId: process.pid, message };
  }

  #renderLine(record: LogRecord): Buffer {
    return Buffer.from(`${renderRecord(this.#configuration.logFormat, record)}\n`);
  }

  /**
   * winston's own file transport names the files differently (`shell_adapter1.log`), and writes nothing more after a
   * failed write.
   */
  #createFile(): RotatingAppender<Buffer> {
    const { logFilePath, maxLogSizeBytes, backupCount } = this.#configuration;
    return new RotatingAppender({
      path: logFilePath,
      mayBeLink: true,
      maxBytes: maxLogSizeBytes,
      backupCount,
      maxItems: MAX_QUEUED_LINES,
      maxWeight: MAX_QUEUED_BYTES,
      weightOf: (line) => line.length,
      render: (lines) => lines,
      mustRetry: false,
      onFailure: (error) => this.#console.write(`shell-adapter: cannot write the log: ${escapeLine(String(error))}`),
      describeLoss: ({ count }) => {
        const text = `the log can be written again${formatFacts({ lost_records: count })}`;
        return this.#renderLine(this.#createRecord('WARNING', `${ROOT_NAME}.logging`, text));
      },
    });
  }
}

/** A stream in object mode receives the record itself, so that each destination can render it differently. */
function createTransport(write: (record: LogRecord) => void) {
  const stream = new Writable({
    objectMode: true,
    write({ record }: { record: LogRecord }, _encoding, done) {
      write(record);
      done();
    },
  });
  return new winston.transports.Stream({ stream });
}

/** Renders a record as `21:43:23 WARNING sessions: message key=value`. */
function renderForPeople({ time, level, name, message }: LogRecord, isColoured: boolean): string {
  const shownLevel = isColoured ? winston.format.colorize({ colors: COLORS }).colorize(level, level) : level;
  const shownName = name === ROOT_NAME ? '' : `${name.slice(ROOT_NAME.length + 1)}: `;
  return `${formatClock(time)} ${shownLevel} ${shownName}${message}`;
}
