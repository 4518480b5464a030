import { ERROR_CATALOGUE, type ErrorCode } from './error-catalogue.js';

export type { ErrorCode };

/** All error codes for clients, each with the sentence that documents it. */
export const ERROR_CODES = Object.fromEntries(
  Object.entries(ERROR_CATALOGUE).map(([code, { meaning }]) => [code, meaning]),
) as Readonly<Record<ErrorCode, string>>;

/** Facts about an error in wire format: snake_case keys, JSON values. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** An error in wire format. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: ErrorDetails;
}

/** The only error class of the adapter. An expected outcome (exit code, time-out) is a value, never an error. */
export class AdapterError extends Error {
  override readonly name = 'AdapterError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }

  /** The error in wire format, inside `{ error: … }`. */
  toBody(): ErrorBody {
    return { code: this.code, message: this.message, ...(this.details && { details: this.details }) };
  }
}
