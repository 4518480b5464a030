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

/** Kind of failure of an LLM call. */
export type FailureKind = keyof typeof FAILURE_CODES;

/** The error of a failed LLM call. */
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
