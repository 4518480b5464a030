import { AdapterError, type ErrorCode, type ErrorDetails } from '../errors.js';

/** Why a call of an LLM failed, with the code that clients get. */
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

/** Why a call of an LLM failed. */
export type FailureKind = keyof typeof FAILURE_CODES;

/** The error of a failed call. */
export const llmError = (kind: FailureKind, message: string, details: ErrorDetails, cause?: unknown): AdapterError =>
  new AdapterError(FAILURE_CODES[kind], message, { details, ...(cause !== undefined && { cause }) });

/** Failures after which another provider may have the answer. A request that ran out of time has none left for another. */
const PASSED_ON: ReadonlySet<ErrorCode> = new Set([
  'LLM_UNAVAILABLE',
  'LLM_AUTH',
  'LLM_RATE_LIMITED',
  'LLM_MODEL_NOT_FOUND',
  'LLM_PROMPT_TOO_LARGE',
  'LLM_LIMIT_EXCEEDED',
  'LLM_EMPTY',
  'LLM_FAILED',
]);

/** Whether the next provider is worth a try after this failure. */
export const isPassedOn = (error: unknown): error is AdapterError =>
  error instanceof AdapterError && PASSED_ON.has(error.code);

/** What tools print when they fail, by what it means. The first that fits counts. */
const PATTERNS: readonly (readonly [FailureKind, RegExp])[] = [
  ['rate_limited', /\b429\b|rate.?limit|quota|resource.?exhausted|too many requests|usage limit|overloaded/i],
  [
    'auth',
    /\b40[13]\b|not logged in|log ?in\b|unauthori[sz]ed|unauthenticated|authenticat|api.?key|credential|no auth|auth method/i,
  ],
  ['prompt_too_large', /prompt is too long|context.?length|context.?window|too large|maximum length|too many tokens/i],
  ['model', /model.{0,80}(not found|not exist|not supported|unknown|invalid)|selected model|(unknown|invalid) model/i],
];

/** What the text of a failure means. */
export const classifyFailure = (text: string): FailureKind =>
  PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'failed';

/** Shapes of keys and tokens, wherever they come from. */
const KEY_SHAPES = [
  /\b(?:sk|pk|rk|key|ghp|gho|xox[abp]|AIza)[-_]?[A-Za-z0-9_-]{16,}/g,
  /(?<=\bBearer\s+)[\w.~+/=-]{8,}/gi,
  /(?<=\b(?:api[-_]?key|token|secret)["']?\s*[=:]\s*["']?)[\w.~+/-]{8,}/gi,
];
const MASK = '***';
/** Shorter values are no secrets, and would mask half of a message. */
const MIN_SECRET_LENGTH = 6;

/** The text without keys: those that are known, and what looks like one. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH);
  const unnamed = known.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
  return KEY_SHAPES.reduce((masked, shape) => masked.replaceAll(shape, MASK), unnamed);
}
