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

/** The name of a field of a log record. */
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
function paddingOf(flags: string, conversion: LogFieldSpec['conversion']): Pick<LogFieldSpec, 'align' | 'fill'> {
  if (flags.includes('-')) return { align: 'left', fill: ' ' };
  return { align: 'right', fill: flags.includes('0') && conversion !== 's' ? '0' : ' ' };
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
