import { escapeLine } from './escape.js';

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
