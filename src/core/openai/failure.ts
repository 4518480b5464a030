import { BoundedMap } from '../bounded-map.js';
import { statusOf } from '../error-catalogue.js';
import { AdapterError, type ErrorCode, type ErrorDetails } from '../errors.js';

export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  /** Message of the tool, or further details. */
  readonly detail?: string;
}

interface OpenAiFailure {
  readonly status: number;
  /** Recommended delay before a retry, in seconds; undefined when the same request should not simply be repeated. */
  readonly retryAfterSeconds: number | undefined;
  readonly body: { readonly error: OpenAiError };
}

/**
 * The error of a request for an unknown model.
 * @param models the models that exist
 */
export const unknownModel = (model: string, models: readonly string[]): AdapterError =>
  new AdapterError('INVALID_REQUEST', 'Unknown model', {
    details: {
      field: 'model',
      model,
      detail: `there is no model ${JSON.stringify(model)}; there are ${models.join(', ') || 'none'}`,
    },
  });

const isUnknownModel = ({ field, model }: ErrorDetails): boolean => field === 'model' && model !== undefined;

/** Messages of failed runs of tools, by error code. The error's own message then becomes the detail. */
const TOOL_MESSAGES: Partial<Record<ErrorCode, string>> = {
  LLM_FAILED: 'CLI failed',
  LLM_LIMIT_EXCEEDED: 'CLI failed',
  LLM_AUTH: 'CLI failed',
  LLM_MODEL_NOT_FOUND: 'CLI failed',
  LLM_UNAVAILABLE: 'CLI not available',
  LLM_TIMEOUT: 'CLI timed out',
};

/** Delay before a retry when the remaining time of the other calls is unknown, in seconds. */
const RETRY_SECONDS = 5;

/** The HTTP answer to a failed request. Directories are those of the model's configuration: a bad one is the daemon's fault. */
export function openAiFailure({ code, message, details = {} }: AdapterError): OpenAiFailure {
  const status = code === 'BAD_DIRECTORY' ? statusOf('INTERNAL') : statusOf(code);
  const toolMessage = TOOL_MESSAGES[code];
  const detail = textIn(details, 'detail') ?? (toolMessage === undefined ? undefined : message);
  return {
    status,
    retryAfterSeconds: mayRetry(status, details) ? retrySeconds(details['retry_after_ms']) : undefined,
    body: {
      error: {
        message: toolMessage ?? message,
        type: typeOf(status),
        code: isUnknownModel(details) ? 'model_not_found' : code.toLowerCase(),
        param: textIn(details, 'field') ?? null,
        ...(detail !== undefined && { detail }),
      },
    },
  };
}

function textIn(details: ErrorDetails, name: string): string | undefined {
  const value = details[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const mayRetry = (status: number, details: ErrorDetails): boolean => status === 429 && !hasRun(details);

/** Whether a tool has run, and not only waited for its turn: another run may repeat its effects. */
export const hasRun = (details: ErrorDetails): boolean => 'exit_code' in details;

/** Whether nothing was run, because the same request has just failed. */
export const isRepeated = ({ details }: AdapterError): boolean => details?.['is_repeated'] === true;

const typeOf = (status: number): string =>
  status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';

const retrySeconds = (ms: unknown): number =>
  typeof ms === 'number' ? Math.max(1, Math.ceil(ms / 1000)) : RETRY_SECONDS;

interface Remembered<Failure> {
  readonly failure: Failure;
  readonly failedAtMs: number;
  untilMs: number;
}

/** Most failures that are remembered; beyond that, the oldest is dropped. */
const MAX_FAILURES = 256;
/** Longest time for which a failure is remembered. The seven attempts of LangChain's client take up to 126 s. */
const MAX_AGE_MS = 150_000;

/**
 * Remembers for a short time which requests have failed, so that a client with automatic retries gets the same failure
 * and nothing is run again.
 *
 * Such clients double the delay before each attempt. A delay therefore exceeds twice the time since the first failure
 * by at most the first delay. A later request counts as a new one.
 */
export class FailureMemory<Failure> {
  readonly #windowMs: () => number;
  readonly #failures = new BoundedMap<string, Remembered<Failure>>(MAX_FAILURES);

  /** @param windowMs longest delay of the first retry, in milliseconds; 0 disables the memory */
  constructor(windowMs: () => number) {
    this.#windowMs = windowMs;
  }

  /** The failure of the same request, if this is a retry of it. */
  recall(key: string, nowMs: number): Failure | undefined {
    const known = this.#failures.get(key);
    if (!known) return undefined;
    if (nowMs < known.untilMs) {
      this.#extend(known, nowMs);
      return known.failure;
    }
    this.#failures.delete(key);
    return undefined;
  }

  /** Records a failed request. Of concurrent requests, the first failure counts. */
  remember(key: string, failure: Failure, nowMs: number): void {
    if (this.#windowMs() === 0) return;
    if (this.recall(key, nowMs) !== undefined) return;
    const remembered = { failure, failedAtMs: nowMs, untilMs: nowMs };
    this.#extend(remembered, nowMs);
    this.#failures.set(key, remembered);
  }

  /** Drops the failure of a request that has succeeded. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  #extend(known: Remembered<Failure>, nowMs: number): void {
    const untilMs = nowMs + this.#windowMs() + 2 * (nowMs - known.failedAtMs);
    known.untilMs = Math.max(known.untilMs, Math.min(untilMs, known.failedAtMs + MAX_AGE_MS));
  }
}
