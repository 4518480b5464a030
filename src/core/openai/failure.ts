import { statusOf } from '../error-catalogue/catalogue.js';
import { AdapterError, type ErrorCode, type ErrorDetails } from '../errors.js';

/** The error object of OpenAI's API. */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  /** Message of the tool, or further details. */
  readonly detail?: string;
}

/** An error in the format of OpenAI's API. */
export interface OpenAiFailure {
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
