import type { ErrorDetails } from '../errors.js';

/** What a model reads: one JSON object. */
export type ToolAnswer = Readonly<Record<string, unknown>>;

/** What a model can do nothing with. */
const NOISE: ReadonlySet<string> = new Set([
  'resource_usage',
  'duration_ms',
  'encoding',
  'timed_out',
  'stdout_bytes',
  'stderr_bytes',
  'next_seq',
]);
/** Values that need no saying: all is as it should be. */
const EXPECTED: Readonly<Record<string, unknown>> = {
  status: 'completed',
  session_state: 'alive',
  stdout_truncated: false,
  stderr_truncated: false,
  lossy: false,
  background_processes: [],
  warnings: [],
};
/** Needed only to read the rest of a long output. */
const SIZES: Readonly<Record<string, string>> = {
  original_stdout_size: 'stdout_truncated',
  original_stderr_size: 'stderr_truncated',
};

/**
 * What a model gets to read of an answer: all that matters, and nothing that only takes room. Bytes are text: what is not
 * UTF-8 in them shows as U+FFFD.
 */
export function toolAnswer(answer: object): ToolAnswer {
  const fields = answer as Readonly<Record<string, unknown>>;
  const isTelling = ([name, value]: readonly [string, unknown]): boolean => {
    if (name === 'exit_code') return true;
    if (value === null || value === undefined || NOISE.has(name) || isSame(value, EXPECTED[name])) return false;
    const flag = SIZES[name];
    if (flag !== undefined) return fields[flag] === true;
    return name !== 'command_id' || needsCommandId(fields);
  };
  return Object.fromEntries(
    Object.entries(fields)
      .filter(isTelling)
      .map(([name, value]) => [name, value instanceof Uint8Array ? new TextDecoder().decode(value) : value]),
  );
}

/** What went wrong: the daemon's error, or that of a client which does not reach it. */
export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly details?: ErrorDetails;
}

/**
 * A failure, as a model gets to read it.
 * @param renamed fields of the request that the tool calls otherwise
 */
export function toolFailure(
  { code, message, details = {} }: ToolError,
  renamed: Readonly<Record<string, string>> = {},
): ToolAnswer {
  const { field } = details;
  const name = typeof field === 'string' ? renamed[field] : undefined;
  if (name === undefined) return { error: { code, message, ...(Object.keys(details).length > 0 && { details }) } };
  return { error: { code, message: message.replace(String(field), name), details: { ...details, field: name } } };
}

/** Whether more can be done with the command: its output read, its end or its confirmation awaited. */
const needsCommandId = ({ status, stdout_truncated, stderr_truncated }: Readonly<Record<string, unknown>>): boolean =>
  status === 'running' ||
  status === 'confirmation_required' ||
  status === undefined ||
  stdout_truncated === true ||
  stderr_truncated === true;

/** Whether two plain values are the same. */
const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (b !== undefined && JSON.stringify(a) === JSON.stringify(b));
