import type { AdapterError, ErrorCode } from '../errors.js';

/** An error as clients of OpenAI's API take it. */
export interface OpenAiFailure {
  readonly status: number;
  /** After so many seconds it may go better; undefined when the same request should not simply be made again. */
  readonly retryAfterSeconds: number | undefined;
  readonly body: {
    readonly error: {
      readonly message: string;
      readonly type: string;
      readonly code: string;
      readonly param: string | null;
      /** What the tool said, or what more is known. */
      readonly detail?: string;
    };
  };
}

/** What a code is in the words of HTTP. `message` stands in front of the detail; without one the error has its own. */
interface Meaning {
  readonly status: number;
  readonly message?: string;
}

const MEANINGS: Partial<Record<ErrorCode, Meaning>> = {
  INVALID_REQUEST: { status: 400 },
  LLM_PROMPT_TOO_LARGE: { status: 400 },
  PAYLOAD_TOO_LARGE: { status: 413 },
  UNAUTHORIZED: { status: 401 },
  FORBIDDEN: { status: 403 },
  RATE_LIMITED: { status: 429 },
  LLM_RATE_LIMITED: { status: 429 },
  LLM_FAILED: { status: 500, message: 'CLI failed' },
  LLM_AUTH: { status: 500, message: 'CLI failed' },
  LLM_MODEL_NOT_FOUND: { status: 500, message: 'CLI failed' },
  LLM_UNAVAILABLE: { status: 503, message: 'CLI not available' },
  LLM_TIMEOUT: { status: 504, message: 'CLI timed out' },
  SHUTTING_DOWN: { status: 503 },
};

const INTERNAL: Meaning = { status: 500 };

/** How long a client may wait where nobody knows how long the others take, in seconds. */
const RETRY_SECONDS = 5;

/** The answer to a request that has failed. */
export function openAiFailure({ code, message, details = {} }: AdapterError): OpenAiFailure {
  const meaning = MEANINGS[code] ?? INTERNAL;
  const said = details['detail'];
  const detail = typeof said === 'string' && said !== '' ? said : meaning.message === undefined ? undefined : message;
  const field = details['field'];
  return {
    status: meaning.status,
    retryAfterSeconds: meaning.status === 429 ? retrySeconds(details['retry_after_ms']) : undefined,
    body: {
      error: {
        message: meaning.message ?? message,
        type: meaning.status < 500 ? 'invalid_request_error' : 'server_error',
        code: field === 'model' ? 'model_not_found' : code.toLowerCase(),
        param: typeof field === 'string' && field !== '' ? field : null,
        ...(detail !== undefined && { detail }),
      },
    },
  };
}

const retrySeconds = (ms: unknown): number =>
  typeof ms === 'number' ? Math.max(1, Math.ceil(ms / 1000)) : RETRY_SECONDS;
