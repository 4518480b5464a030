import { Writable } from 'node:stream';
import { once } from 'node:events';
import winston from 'winston';
import type { LoggingConfiguration, LogLevel } from '../config/model/configuration.js';
import type { Log } from '../core/logging/log.js';
import { RotatingAppender } from '../files/rotating-appender.js';
import { ConsoleLines, type ConsoleStream } from './console-lines.js';
import { escapeLine } from './escape.js';
import { formatFacts } from './facts.js';
import { formatClock, type LogRecord, renderRecord } from './record.js';

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

/** The log of the daemon. */
export interface Logging extends AsyncDisposable {
  /** Logger of a component: `sessions` logs as `shell_adapter.sessions`. Without a name: `shell_adapter`. */
  component(name?: string): Log;
  /** Applies another configuration: level and format at once, the file from the next record on. */
  reconfigure(configuration: LoggingConfiguration): void;
  /** Resolves when everything has been written. Never rejects. Idempotent. Later records are dropped. */
  close(): Promise<void>;
}

/**
 * Starts logging to a rotated file and optionally to standard error. When the file cannot be written, one notice is
 * printed on standard error, and records are dropped and counted. Once the file can be written again, it continues with
 * the number of dropped records.
 */
export function createLogging(configuration: LoggingConfiguration, options: LoggingOptions): Logging {
  return new WinstonLogging(configuration, options);
}

class WinstonLogging implements Logging {
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

  component(name?: string): Log {
    const fullName = name === undefined ? ROOT_NAME : `${ROOT_NAME}.${name}`;
    return {
      debug: (message, facts) => this.#log('DEBUG', fullName, message, facts),
      info: (message, facts) => this.#log('INFO', fullName, message, facts),
      warn: (message, facts) => this.#log('WARNING', fullName, message, facts),
      error: (message, facts) => this.#log('ERROR', fullName, message, facts),
    };
  }

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
