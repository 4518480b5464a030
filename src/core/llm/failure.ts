import { AdapterError, type ErrorCode, type ErrorDetails } from '../errors.js';

/** Kinds of failures of an LLM call, with the error code for clients. */
const FAILURE_CODES = {
  unavailable: 'LLM_UNAVAILABLE',
  auth: 'LLM_AUTH',
  rate_limited: 'LLM_RATE_LIMITED',
  model: 'LLM_MODEL_NOT_FOUND',
  prompt_too_large: 'LLM_PROMPT_TOO_LARGE',
  timeout: 'LLM_TIMEOUT',
  limit: 'LLM_LIMIT_EXCEEDED',
  cancelled: 'LLM_CANCELLED',
  empty: 'LLM_EMPTY',
  failed: 'LLM_FAILED',
} as const satisfies Record<string, ErrorCode>;

export type FailureKind = keyof typeof FAILURE_CODES;

export const llmError = (kind: FailureKind, message: string, details: ErrorDetails, cause?: unknown): AdapterError =>
  new AdapterError(FAILURE_CODES[kind], message, { details, ...(cause !== undefined && { cause }) });

/**
 * Failures after which another provider may succeed. A request that timed out has no time left for another provider.
 */
const FALLBACK_CODES: ReadonlySet<ErrorCode> = new Set([
  'LLM_UNAVAILABLE',
  'LLM_AUTH',
  'LLM_RATE_LIMITED',
  'LLM_MODEL_NOT_FOUND',
  'LLM_PROMPT_TOO_LARGE',
  'LLM_LIMIT_EXCEEDED',
  'LLM_EMPTY',
  'LLM_FAILED',
]);

/** Whether the next provider should be tried after this failure. */
export const isPassedOn = (error: unknown): error is AdapterError =>
  error instanceof AdapterError && FALLBACK_CODES.has(error.code);

/** Failure kinds by HTTP status of a model service. 529 is Anthropic's status for an overloaded service. */
const STATUS_KINDS: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'auth'],
  [403, 'auth'],
  [404, 'model'],
  [408, 'timeout'],
  [413, 'prompt_too_large'],
  [429, 'rate_limited'],
  [529, 'rate_limited'],
]);

/** Failure kinds by error code of services and tools, which are fixed strings in a separate field. */
const CODE_KINDS: ReadonlyMap<string, FailureKind> = new Map([
  ['authentication_error', 'auth'],
  ['authentication_failed', 'auth'],
  ['invalid_api_key', 'auth'],
  ['permission_error', 'auth'],
  ['UNAUTHENTICATED', 'auth'],
  ['PERMISSION_DENIED', 'auth'],
  ['ProviderAuthError', 'auth'],
  ['rate_limit', 'rate_limited'],
  ['rate_limit_error', 'rate_limited'],
  ['rate_limit_exceeded', 'rate_limited'],
  ['insufficient_quota', 'rate_limited'],
  ['overloaded_error', 'rate_limited'],
  ['RESOURCE_EXHAUSTED', 'rate_limited'],
  ['context_length_exceeded', 'prompt_too_large'],
  ['ContextOverflowError', 'prompt_too_large'],
  ['model_not_found', 'model'],
]);

/** The structured part of an error: an HTTP status, an error code, or both. */
export interface StructuredError {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}

/**
 * Kind of a structured error; undefined when neither its code nor its status determines it. The code is more specific
 * and takes precedence.
 */
export const kindOfError = ({ status, code }: StructuredError): FailureKind | undefined =>
  CODE_KINDS.get(code ?? '') ?? STATUS_KINDS.get(status ?? 0);

/** Patterns of keys and tokens from any source. */
const KEY_SHAPES = [
  /\b(?:sk|pk|rk|key|ghp|gho|xox[abp]|AIza)[-_]?[A-Za-z0-9_-]{16,}/g,
  /(?<=\bBearer\s+)[\w.~+/=-]{8,}/gi,
  /(?<=\b(?:api[-_]?key|token|secret)["']?\s*[=:]\s*["']?)[\w.~+/-]{8,}/gi,
];
const MASK = '***';
/** Fewest characters of a secret: shorter values are no secrets, and would mask half of a message. */
const MIN_SECRET_LENGTH = 6;

/** The text with known keys, and strings that resemble keys, masked. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH);
  const unnamed = known.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
  return KEY_SHAPES.reduce((masked, shape) => masked.replaceAll(shape, MASK), unnamed);
}

/**
 * Cause of the end of a run: its own exit, or the reason for ending it. `finished`: it had reported completion, but did
 * not exit; `closed`: it had closed its standard output, but did not exit.
 */
export type RunEndCause =
  | 'exit'
  | 'finished'
  | 'closed'
  | 'timeout'
  | 'idle'
  | 'limit'
  | 'cancelled'
  | 'shutdown'
  | 'flood';

export interface RunFacts {
  readonly cause: RunEndCause;
  /** In shell convention. Meaningless when the run was ended from outside. */
  readonly exitCode: number;
  /** Failure that the tool itself reported. */
  readonly failure: string | undefined;
  /** Meaning of the tool's structured error; undefined when it reported none. */
  readonly failureKind: FailureKind | undefined;
  readonly isFinished: boolean;
  /** Whether the answer is plain printed text; such a tool never reports completion. */
  readonly isText: boolean;
  readonly text: string;
  /** The end of other output on standard output. */
  readonly noise: string;
  /** The end of standard error. It always contains noise, so it decides nothing. */
  readonly stderr: string;
  readonly exitKinds?: Readonly<Record<number, FailureKind>> | undefined;
}

export type RunVerdict =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly kind: FailureKind; readonly what: string; readonly detail: string };

/**
 * Decides whether a run has succeeded. Exit code 0 does not imply success, and another code is no failure when there is
 * an answer. The tool's own report takes precedence, then the cause of the end, then the exit code.
 */
export function judgeRun(facts: RunFacts): RunVerdict {
  const { cause, failure, isFinished, exitCode } = facts;
  const content = facts.text.trim();
  const detail = failure ?? [facts.noise, content, facts.stderr].map((text) => text.trim()).find(Boolean) ?? '';
  const decisive = decisiveFault(facts);
  if (decisive) return { ok: false, ...decisive, detail };
  if (isFinished && content !== '') return { ok: true, content };
  if (exitCode !== 0 && cause === 'exit') {
    const what = `failed with exit code ${exitCode}`;
    return { ok: false, kind: kindOf(facts), what, detail: withErrors(detail, facts.stderr.trim()) };
  }
  const lack = faultWithoutAnswer(facts, content);
  return lack ? { ok: false, ...lack, detail } : { ok: true, content };
}

type Fault = Pick<Extract<RunVerdict, { ok: false }>, 'kind' | 'what'>;

/** Faults that count even when there is an answer. */
function decisiveFault(facts: RunFacts): Fault | undefined {
  const { cause, failure, isFinished } = facts;
  if (cause === 'cancelled' || cause === 'shutdown') return { kind: 'cancelled', what: 'was cancelled' };
  if (cause === 'flood') return { kind: 'failed', what: 'printed more than an answer can be' };
  if (cause === 'limit' && !isFinished) return { kind: 'limit', what: 'exceeded a limit and was ended' };
  return failure === undefined ? undefined : { kind: kindOf(facts), what: 'failed' };
}

/** Faults of a run that has reported no completed answer. */
function faultWithoutAnswer({ cause, isText, isFinished }: RunFacts, content: string): Fault | undefined {
  if (cause === 'timeout') return { kind: 'timeout', what: 'ran into its time-out' };
  if (cause === 'idle') return { kind: 'timeout', what: 'printed nothing for too long' };
  // Some tools lose the end of their output on exit, so the answer may be incomplete.
  if (!isText && !isFinished) return { kind: 'failed', what: 'ended before it had said that it was done' };
  return content === '' ? { kind: 'empty', what: 'gave an empty answer' } : undefined;
}

/** Most characters of each output in a message that contains two; the end is kept. */
const MAX_OUTPUT_CHARACTERS = 2000;

/** Tools report errors on either output, so the message contains both. */
const withErrors = (output: string, errors: string): string =>
  errors === '' || output.includes(errors)
    ? output
    : `${output.slice(-MAX_OUTPUT_CHARACTERS)}\n${errors.slice(-MAX_OUTPUT_CHARACTERS)}`;

/** Text is never searched for keywords: any tool may print "429" or "quota" for unrelated reasons. */
const kindOf = ({ exitKinds, exitCode, failureKind }: RunFacts): FailureKind =>
  failureKind ?? exitKinds?.[exitCode] ?? 'failed';
