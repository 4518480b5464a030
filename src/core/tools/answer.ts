import { nextStepOf } from '../error-catalogue.js';
import type { ErrorDetails } from '../errors.js';

/** Facts about a call from which the model's next step is derived. */
export interface CallFacts {
  readonly tool: string;
  /** The request payload as the daemon receives it. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Whether the model has a tool of this name. */
  readonly has: (tool: string) => boolean;
  readonly note?: string | undefined;
}

type Values = Readonly<Record<string, string | number>>;

/**
 * Wait time per call that a model is advised to use for a running command, in milliseconds. Clients give up on longer
 * calls.
 */
const WAIT_MS = 30_000;

/** Time without a change after which a screen is worth a look, in milliseconds. */
const STILL_MS = 500;

/** A call as a model can make it: `wait_command(command_id='…', timeout_ms=30000)`. */
const callText = (tool: string, args: Values): string =>
  `${tool}(${Object.entries(args)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? `'${value}'` : value}`)
    .join(', ')})`;

/** Next step for an answer that is not final or not complete; undefined when no further step is needed. */
function nextAfter(answer: Readonly<Record<string, unknown>>, facts: CallFacts): string | undefined {
  switch (answer['status']) {
    case 'running':
      return afterRunning(answer, facts);
    case 'timed_out':
      return afterTimeout(answer, facts);
    case 'denied':
      return 'it has not run and will not: do it another way, or ask the user';
    default:
      if (answer['session_state'] === 'closed') return 'the session has ended: open_session() gives another one';
      if (answer['met'] === false) return afterWait(answer);
      return answer['eof'] === false ? afterPart(answer, facts) : afterTruncation(answer, facts);
  }
}

/** Call that reads the next part of an output, or of a file. */
function afterPart(answer: Readonly<Record<string, unknown>>, { payload }: CallFacts): string {
  const { offset, data, from_line: line, lines = 0 } = answer;
  const { command_id: id, stream = 'stdout', path, session_id: session } = payload;
  if (typeof path === 'string') {
    const where = { path, ...(typeof session === 'string' && { session_id: session }) };
    const isWholeLines = typeof data === 'string' && data.endsWith('\n') && typeof line === 'number';
    return callText(
      'read_file',
      isWholeLines
        ? { ...where, from_line: line + Number(lines) }
        : { ...where, offset: Number(offset) + Number(answer['length']) },
    );
  }
  const length = data instanceof Uint8Array ? data.length : 0;
  const next = Number(answer['next_offset'] ?? Number(offset) + length);
  return callText('read_output', { command_id: String(id), stream: String(stream), offset: next });
}

function afterRunning({ command_id: id }: Readonly<Record<string, unknown>>, { payload, has }: CallFacts): string {
  const command_id = String(id);
  if (payload['tty'] === true && has('read_screen')) {
    return `${callText('wait_for', { command_id, screen_stable_ms: STILL_MS })}, then ${callText('type_input', { command_id, keys: '[…]' })}`;
  }
  const wait = callText('wait_command', { command_id, timeout_ms: WAIT_MS });
  return `${wait}; if it asks for input: ${callText('type_input', { command_id, data: '…\\n' })}`;
}

/** What was waited for has not come. */
const afterWait = ({ condition }: Readonly<Record<string, unknown>>): string =>
  condition === 'end'
    ? 'the command has ended without it: wait_command gives its result'
    : 'it has not come yet: see what the command does, or make the same call again';

function afterTimeout(answer: Readonly<Record<string, unknown>>, { tool, payload, has }: CallFacts): string {
  const given = tool === 'run_command' || tool === 'execute_command' ? payload['timeout_ms'] : undefined;
  const limit = typeof given === 'number' ? given : Math.round(Number(answer['duration_ms']));
  const instead = has('execute_command') ? ', or execute_command with a session_id and background=true' : '';
  return `it was killed at its time limit of ${limit} ms: call again with a larger timeout_ms${instead}`;
}

function afterTruncation(answer: Readonly<Record<string, unknown>>, { has }: CallFacts): string | undefined {
  const stream = (['stdout', 'stderr'] as const).find((name) => answer[`${name}_truncated`] === true);
  if (stream === undefined) return undefined;
  if (!has('read_output')) return `${stream} is only its beginning and end: print less, by head, tail or grep`;
  const command_id = String(answer['command_id']);
  const shown = String(answer[stream]);
  const total = answer[`original_${stream}_lines`];
  if (typeof total === 'number') return callText('read_output', { command_id, stream, from_line: gapLine(shown) });
  return callText('read_output', { command_id, stream, offset: startOfGap(shown) });
}

const LINE_MARKER = /(?<=^|\n)\[\.\.\. [\d,]+ of [\d,]+ lines? (?:left out(, \d lines? cut)?|(cut))/;

/** Number of the first line that is not shown whole in an output that was shortened by lines. */
function gapLine(shown: string): number {
  const marker = LINE_MARKER.exec(shown);
  const lines = shown.slice(0, marker?.index).split('\n');
  const clipped = lines.findIndex((line) => line.endsWith('…'));
  if (clipped !== -1) return clipped + 1;
  // The line end before the marker belongs to the marker if the line is cut.
  const isCut = marker?.[1] !== undefined || marker?.[2] !== undefined;
  return Math.max(1, lines.length - (isCut ? 1 : 0));
}

/**
 * Byte offset of the gap in a shortened output. The line end before the marker may belong to the marker, so it does not
 * count: a part that begins one byte early is better than one that lacks a byte.
 */
function startOfGap(shown: string): number {
  const [beginning = ''] = shown.split(/(?<=^|\n)\[\.\.\. [\d,]+ of [\d,]+ characters left out/, 1);
  return new TextEncoder().encode(beginning.replace(/\n$/, '')).length;
}

/** Longest list of reasons in an answer to a command that has to be confirmed, in characters. */
const MAX_REASONS = 40;

/** Answer to a model about a command that has to be confirmed: under 300 characters for any command. */
function confirmationAnswer(
  terms: Readonly<Record<string, unknown>>,
  { has }: CallFacts,
): Readonly<Record<string, unknown>> {
  const id = String(terms['confirmation_id']);
  const reasons = shorten((terms['reasons'] as readonly string[]).join('; '));
  const status = { status: 'confirmation_required', reasons } as const;
  if (terms['requires'] === 'self' && has('confirm_command')) {
    const next = callText('confirm_command', {
      confirmation_id: id,
      command_sha256: String(terms['command_sha256']),
      decision: 'approve',
      justification: '…',
    });
    return { ...status, next };
  }
  const decider = terms['requires'] === 'llm' ? 'a model' : `the user, by \`shell-adapter confirm ${id}\``;
  const wait = callText('wait_command', { command_id: String(terms['command_id']) });
  return { ...status, next: `${decider} decides${has('wait_command') ? `: ${wait}` : ''}` };
}

const shorten = (text: string): string => (text.length > MAX_REASONS ? `${text.slice(0, MAX_REASONS - 1)}…` : text);

/** Next steps that the details of an error make exact: a call that can be made as it is, or how long to wait. */
const EXACT_STEPS: Readonly<Record<string, (details: ErrorDetails, facts: CallFacts) => string | undefined>> = {
  INVALID_REQUEST: (_, { tool }) => `correct the arguments and call ${tool} again`,
  SESSION_BUSY: ({ running_command_id: id }) =>
    typeof id === 'string'
      ? `${callText('wait_command', { command_id: id, timeout_ms: WAIT_MS })}, or open_session() for another session`
      : undefined,
  NO_RUNNING_COMMAND: (_, { tool, payload: { session_id: id } }) =>
    tool === 'read_screen' || tool === 'wait_for'
      ? 'run the program by execute_command with tty=true and background=true'
      : `nothing reads input there: ${callText('execute_command', { session_id: typeof id === 'string' ? id : '…', command: '…' })}`,
  RATE_LIMITED: ({ retry_after_ms: ms }) =>
    typeof ms === 'number' ? `make the same call again in ${ms} ms` : undefined,
  CONNECTION_LOST: ({ command_id: id }) =>
    typeof id === 'string'
      ? `when the daemon is back: ${callText('wait_command', { command_id: id })}; before you repeat the command, see what it has done`
      : undefined,
};

/** Next step after an error: that of the catalogue, unless the details have a more exact one. */
const nextAfterError = (code: string, details: ErrorDetails, facts: CallFacts): string =>
  EXACT_STEPS[code]?.(details, facts) ?? nextStepOf(code);

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

export function toolFailure({ code, message, details = {} }: ToolError, facts: CallFacts): ToolAnswer {
  const remaining = Object.entries(details).filter(([name]) => !REDUNDANT_DETAILS.has(name));
  const error = { code, message, ...(remaining.length > 0 && { details: Object.fromEntries(remaining) }) };
  return { error, next: nextAfterError(code, details, facts), ...noteOf(facts) };
}

/** Whether the command can still be used: its output read, its end awaited. */
const needsCommandId = ({ status, stdout_truncated, stderr_truncated }: Readonly<Record<string, unknown>>): boolean =>
  status === 'running' || status === undefined || stdout_truncated === true || stderr_truncated === true;

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (b !== undefined && JSON.stringify(a) === JSON.stringify(b));
