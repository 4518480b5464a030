import type { ErrorDetails } from '../errors.js';
import { type CallFacts, confirmationAnswer, nextAfter, nextAfterError } from './next-step.js';

/** An answer to a model: one JSON object with its small fields first, since clients truncate long answers. */
export type ToolAnswer = Readonly<Record<string, unknown>>;

/** Fields without use for a model. */
const NOISE: ReadonlySet<string> = new Set([
  'resource_usage',
  'duration_ms',
  'encoding',
  'timed_out',
  'stdout_bytes',
  'stderr_bytes',
  'next_seq',
  'next_offset',
  'mtime_ms',
  'sha256',
  'length',
  'waited_ms',
]);
/** Values that are omitted because they are the expected ones. */
const EXPECTED: Readonly<Record<string, unknown>> = {
  status: 'completed',
  session_state: 'alive',
  stdout_truncated: false,
  stderr_truncated: false,
  lossy: false,
  diff_truncated: false,
  background_processes: [],
  warnings: [],
  alternate: false,
  clipped_lines: 0,
};
/** Fields that are only needed to read the rest of a long output. */
const SIZES: Readonly<Record<string, string>> = {
  original_stdout_size: 'stdout_truncated',
  original_stderr_size: 'stderr_truncated',
  original_stdout_lines: 'stdout_truncated',
  original_stderr_lines: 'stderr_truncated',
};
/** Fields that may be long come last. */
const LONG: readonly string[] = ['stdout', 'stderr', 'data', 'patch', 'changes', 'diff', 'match', 'screen', 'text'];

/**
 * Formats an answer for a model: status first, then the next step, then the rest. Bytes become text; invalid UTF-8 in
 * them is shown as U+FFFD.
 */
export function toolAnswer(answer: object, facts: CallFacts): ToolAnswer {
  const fields = answer as Readonly<Record<string, unknown>>;
  if (fields['status'] === 'confirmation_required') return { ...confirmationAnswer(fields, facts), ...noteOf(facts) };
  if (fields['status'] === 'denied') return { status: 'denied', next: nextAfter(fields, facts) };
  // Of a request about files that was confirmed, only its own answer counts.
  if (typeof fields['file'] === 'object' && fields['file'] !== null) return toolAnswer(fields['file'], facts);
  const next = nextAfter(fields, facts);
  const entries = Object.entries(fields)
    .filter(([name, value]) => isInformative(name, value, fields))
    .map(([name, value]) => [name, value instanceof Uint8Array ? new TextDecoder().decode(value) : value] as const);
  const shown = Object.fromEntries(entries);
  const { status, exit_code, ...others } = shown;
  const isLong = ([name]: readonly [string, unknown]) => LONG.includes(name);
  return {
    ...(status !== undefined && { status }),
    ...('exit_code' in shown && { exit_code }),
    ...(next !== undefined && { next }),
    ...noteOf(facts),
    ...Object.fromEntries(Object.entries(others).filter((entry) => !isLong(entry))),
    ...Object.fromEntries(Object.entries(others).filter(isLong)),
  };
}

function isInformative(name: string, value: unknown, fields: Readonly<Record<string, unknown>>): boolean {
  if (name === 'exit_code') return true;
  if (value === null || value === undefined || NOISE.has(name) || isSame(value, EXPECTED[name])) return false;
  const flag = SIZES[name];
  if (flag !== undefined) return fields[flag] === true;
  return name !== 'command_id' || needsCommandId(fields);
}

const noteOf = ({ note }: CallFacts) => note !== undefined && { note };

/** An error of the daemon, or of a client that cannot reach it. */
export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly details?: ErrorDetails;
}

/** Details that the message already contains. */
const REDUNDANT_DETAILS: ReadonlySet<string> = new Set(['problems', 'reasons', 'commands', 'action']);

/** Formats a failure for a model. */
export function toolFailure({ code, message, details = {} }: ToolError, facts: CallFacts): ToolAnswer {
  const remaining = Object.entries(details).filter(([name]) => !REDUNDANT_DETAILS.has(name));
  const error = { code, message, ...(remaining.length > 0 && { details: Object.fromEntries(remaining) }) };
  return { error, next: nextAfterError(code, details, facts), ...noteOf(facts) };
}

/** Whether the command can still be used: its output read, its end awaited. */
const needsCommandId = ({ status, stdout_truncated, stderr_truncated }: Readonly<Record<string, unknown>>): boolean =>
  status === 'running' || status === undefined || stdout_truncated === true || stderr_truncated === true;

/** Whether two plain values are equal. */
const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (b !== undefined && JSON.stringify(a) === JSON.stringify(b));
