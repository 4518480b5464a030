import { isAbsolute } from 'node:path';

import { z } from 'zod';

import { NOTIFICATION_EVENTS, NOTIFICATION_FORMATS } from '../../core/notifications.js';
import { ROLE_NAMES } from '../../core/principal.js';
import { Secret } from '../../core/secret.js';
import {
  choice,
  converted,
  count,
  described,
  duration,
  flag,
  list,
  MAX_FILE_BYTES,
  oneOf,
  path,
  restarting,
  text,
  textWhere,
} from '../fields.js';
import { isLoopback } from './socketio.js';

const KIB = 1024;
const MIB = 1024 * 1024;

export const auditSection = restarting({
  enabled: flag(true, 'Whether requests that change something, verdicts, decisions and results are recorded.'),
  file: path(
    'The audit log; its folder is created. A daemon that finds the default file in use takes `audit-2.jsonl` and so on.',
    { in: 'state_directory', name: 'audit.jsonl' },
  ),
  max_size: count(
    { unit: 'bytes', min: 4096, max: MAX_FILE_BYTES },
    10 * MIB,
    'Size at which the log is renamed and a new file is started, which continues the hash chain.',
  ),
  backups: count({ unit: 'files', min: 1, max: 1000 }, 10, 'Renamed logs that are kept; `.1` is the newest.'),
});

/** `recording`: which sessions are recorded, and where. */
export const recordingSection = z
  .strictObject({
    roles: list(
      oneOf(ROLE_NAMES),
      'must be a list of roles',
      'Roles whose sessions are always recorded, whatever the client asks for. Only admins can delete these recordings.',
      { reload: 'new_sessions' },
    ),
    directory: path(
      'Directory of the recordings, which is created. Commands may not read it.',
      { in: 'state_directory', name: 'recordings' },
      'restart',
    ),
    max_bytes: count(
      { unit: 'bytes', min: 64 * KIB, max: MAX_FILE_BYTES },
      64 * MIB,
      'Size at which a recording ends early. The session goes on.',
      'new_sessions',
    ),
    max_total_bytes: count(
      { unit: 'bytes', min: 64 * KIB, max: MAX_FILE_BYTES },
      1024 * MIB,
      'Disk space of all recordings. Above it, the oldest of sessions that have ended are deleted.',
    ),
  })
  .superRefine(({ max_bytes: one, max_total_bytes: total }, context) => {
    if (total >= one) return;
    const message = `max_total_bytes (${total}) may not be less than max_bytes (${one}): a recording has to fit`;
    context.addIssue({ code: 'custom', path: ['max_total_bytes'], message });
  });

/** Fields of a log format: names of Python's logging, and their types. */
const LOG_FIELDS = {
  asctime: 'text',
  created: 'number',
  levelname: 'text',
  levelno: 'number',
  message: 'text',
  msecs: 'number',
  name: 'text',
  process: 'number',
} as const;

export type LogField = keyof typeof LOG_FIELDS;

/** One `%(field)s` of a format. */
export interface LogFieldSpec {
  readonly field: LogField;
  /** `s` text, `d` a whole number, `f` a number with `precision` decimals. */
  readonly conversion: 's' | 'd' | 'f';
  /** Minimum number of characters; shorter values are padded with `fill`. */
  readonly width: number;
  /** For `s` the maximum number of characters, for `f` the number of decimals (default 6). */
  readonly precision: number | undefined;
  readonly align: 'left' | 'right';
  readonly fill: ' ' | '0';
}

/** A parsed log format: literal text and fields, in order. */
export type LogFormat = readonly (string | LogFieldSpec)[];

const DIRECTIVE = /%(?:%|\(([^)]*)\)([-0]*)(\d{0,3})(?:\.(\d{1,2}))?(.?))/g;

/**
 * Parses a format in Python's `%` style: `%(levelname)-8s`, `%(process)d`, `%%`. The problem describes the error and
 * lists the available fields. Source: https://docs.python.org/3/library/logging.html#logrecord-attributes
 */
export function parseLogFormat(text: string): LogFormat | { readonly problem: string } {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)) return { problem: 'must be one line: a record is one line' };
  const parts = readParts(text);
  if ('problem' in parts) return parts;
  return parts.every((part) => typeof part === 'string') ? { problem: `names no field. ${describeFields()}` } : parts;
}

function readParts(text: string): LogFormat | { readonly problem: string } {
  const parts: (string | LogFieldSpec)[] = [];
  let end = 0;
  for (const match of text.matchAll(DIRECTIVE)) {
    const literal = text.slice(end, match.index);
    if (literal.includes('%')) break;
    if (literal !== '') parts.push(literal);
    const part = match[0] === '%%' ? '%' : readField(match);
    if (typeof part === 'object' && 'problem' in part) return part;
    parts.push(part);
    end = match.index + match[0].length;
  }
  const tail = text.slice(end);
  if (tail.includes('%')) return { problem: 'has a "%" that starts no field; a literal "%" is written "%%"' };
  return tail === '' ? parts : [...parts, tail];
}

function readField(match: RegExpExecArray): LogFieldSpec | { readonly problem: string } {
  const [written, field = '', flags = '', width = '', precision, conversion = ''] = match;
  if (!isLogField(field)) return { problem: `has the unknown field ${JSON.stringify(field)}. ${describeFields()}` };
  if (!isConversion(conversion)) return { problem: `has ${JSON.stringify(written)}, which does not end in s, d or f` };
  if (conversion !== 's' && LOG_FIELDS[field] === 'text') {
    return { problem: `has ${JSON.stringify(written)}, but ${field} is text: it is written %(${field})s` };
  }
  return {
    field,
    conversion,
    // No digits give 0.
    width: Number(width),
    precision: precision === undefined ? undefined : Number(precision),
    ...paddingOf(flags, conversion),
  };
}

/** As in printf(3): `-` aligns to the left, and `0` pads numbers on the left with zeros. */
function paddingOf(flags: string, conversion: LogFieldSpec['conversion']) {
  if (flags.includes('-')) return { align: 'left', fill: ' ' } as const;
  return { align: 'right', fill: flags.includes('0') && conversion !== 's' ? '0' : ' ' } as const;
}

function isLogField(name: string): name is LogField {
  return Object.hasOwn(LOG_FIELDS, name);
}

function isConversion(letter: string): letter is LogFieldSpec['conversion'] {
  return letter === 's' || letter === 'd' || letter === 'f';
}

function describeFields(): string {
  return `The fields are ${Object.keys(LOG_FIELDS)
    .map((name) => `%(${name})`)
    .join(', ')}, each with s, d or f after it`;
}

const DEFAULT_FORMAT = '%(asctime)s - %(name)s - %(levelname)s - %(message)s';

/** Level names of Python's logging, from the least to the most severe. */
const LOG_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const;

const levelError = `must be one of ${LOG_LEVELS.join(', ')}`;

/** `logging`: destination, level, format and rotation of the log. */
export const loggingSection = z.strictObject({
  logging_level: described(
    z
      .string({ error: levelError })
      .toUpperCase()
      .pipe(z.enum(LOG_LEVELS, { error: levelError }))
      .default('INFO'),
    { text: 'The least severe records that are written: DEBUG, INFO, WARNING, ERROR or CRITICAL.', fallback: '`INFO`' },
  ),
  log_file_path: path('The log file; its folder is created.', { in: 'state_directory', name: 'shell_adapter.log' }),
  log_format: converted(
    z.string({ error: "must be a format in Python's style" }).superRefine(checkLogFormat).default(DEFAULT_FORMAT),
    { text: "Format of a record, in Python's style.", fallback: `\`${DEFAULT_FORMAT}\`` },
    (text) => parseLogFormat(text) as LogFormat,
  ),
  max_log_size: count(
    { unit: 'bytes', min: 1, max: MAX_FILE_BYTES },
    5 * MIB,
    'Size at which the log file is renamed and a new one is started.',
  ),
  backup_count: count(
    { unit: 'files', min: 0, max: 1000 },
    3,
    'Renamed log files that are kept; `.1` is the newest. With 0 a full log is emptied.',
  ),
});

function checkLogFormat(text: string, context: z.RefinementCtx): void {
  const format = parseLogFormat(text);
  if ('problem' in format) context.addIssue({ code: 'custom', message: format.problem });
}

/** Where a collector of OpenTelemetry on this machine listens. */
const ENDPOINT = 'http://127.0.0.1:4318/v1/traces';

const collectorUrlError = 'must be an http or https URL, such as http://127.0.0.1:4318/v1/traces';

const isCollector = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

const ratioError = 'must be a number from 0 to 1';

/** `traces`: spans of requests and commands for OpenTelemetry. */
export const tracesSection = restarting({
  enabled: flag(
    false,
    'Whether spans of requests and commands are sent to a collector. Needs packages of OpenTelemetry; see [Monitoring](../operate/monitoring.md#traces).',
  ),
  endpoint: described(textWhere(isCollector, collectorUrlError).default(ENDPOINT), {
    text: 'Where the collector takes OTLP over HTTP.',
    fallback: `\`${ENDPOINT}\``,
  }),
  sample_ratio: described(
    z.number({ error: ratioError }).min(0, { error: ratioError }).max(1, { error: ratioError }).default(1),
    {
      text: 'Part of the traces that begin in the daemon and are recorded. A trace of a client is recorded if the client records it.',
      fallback: '`1`',
    },
  ),
  service_name: described(text.default('shell-adapter'), {
    text: 'The name of the service in the spans.',
    fallback: '`shell-adapter`',
  }),
  include_command: flag(false, 'Whether the span of a command has its text, with secrets masked.'),
});

/** Least length of a secret, in characters: a shorter one could be guessed from a signed body. */
export const MIN_SIGNING_CHARACTERS = 16;

const urlError = 'has to be an https URL, or an http URL of this machine (127.0.0.1, localhost), without a user name';

/** Without TLS, others on the way could read and change what is sent. */
function isReceiver(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[(.*)\]$/, '$1')));
}

const events = z
  .array(oneOf(NOTIFICATION_EVENTS), { error: `must be a list of ${NOTIFICATION_EVENTS.join(', ')}` })
  .min(1, { error: 'must name at least one event' });

// No message of a secret may begin with "must be": such messages quote the value.
const secretText = z
  .string({ error: 'has to be a text; write it in quotes' })
  .min(MIN_SIGNING_CHARACTERS, { error: `has to have ${MIN_SIGNING_CHARACTERS} characters or more` });

const webhook = z
  .strictObject(
    {
      url: described(textWhere(isReceiver, urlError), {
        text: 'Where notifications are sent: https, or http to this machine. Redirects are not followed.',
        fallback: 'none; it is required',
        isSecret: true,
      }),
      secret: converted(
        secretText.optional(),
        {
          text: 'The key of the signature, best as `"${VARIABLE}"`; at least 16 characters.',
          fallback: 'none; then nothing is signed',
          isSecret: true,
        },
        (value: string) => new Secret(value),
      ),
      secret_file: described(text.refine(isAbsolute, { error: 'must be an absolute path' }).optional(), {
        text: 'A file with the key instead; its path is absolute, and blanks at its ends do not count.',
        fallback: 'none',
      }),
      events: described(events.default([...NOTIFICATION_EVENTS]), {
        text: `What it is told: ${NOTIFICATION_EVENTS.map((name) => `\`${name}\``).join(', ')}.`,
        fallback: 'all',
      }),
      format: choice(NOTIFICATION_FORMATS, 'json', '`json`, or `slack` for receivers that take what Slack takes.'),
      include_command: flag(false, 'Whether the text of a command is sent, with secrets masked; its class always is.'),
      timeout: duration('seconds', 5, 'How long the receiver may take for an answer.'),
      attempts: count({ unit: 'attempts', min: 1, max: 20 }, 5, 'Attempts for each notification, the first included.'),
    },
    { error: 'must be a mapping with a url' },
  )
  .superRefine(({ secret, secret_file: file }, context) => {
    if (secret === undefined || file === undefined) return;
    context.addIssue({ code: 'custom', path: ['secret_file'], message: 'goes without secret: give one of the two' });
  });

/** `notify`: webhooks that are told of what waits and what went wrong. */
export const notifySection = z.strictObject({
  webhooks: list(
    webhook,
    'must be a list of webhooks',
    'Receivers of notifications; see [Notifications](../operate/notifications.md).',
  ),
});
