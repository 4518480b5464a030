import type { ErrorBody, ErrorCode, ErrorDetails } from '../core/errors.js';

/** What can go wrong on the client's side of the wire; the daemon's own codes are in the protocol's catalogue. */
export const CLIENT_ERROR_CODES = {
  CONNECTION_FAILED: 'No daemon answers at the address.',
  REFUSED: 'The daemon does not let this client in.',
  CONNECTION_LOST: 'The connection broke. What was asked may or may not have been done.',
  REQUEST_TIMEOUT: 'The daemon has not answered within the time given.',
  CLIENT_CLOSED: 'The client was closed before the answer came.',
  NOT_STREAMED: 'The command cannot be iterated: it was not run with `stream: true`, or has been iterated before.',
} as const;

/** Code of a `ClientError`: the client's own, or one of the daemon's. */
export type ClientErrorCode = keyof typeof CLIENT_ERROR_CODES | ErrorCode;

/** What every promise of the client rejects with: a failure of the connection, or the daemon's `{ error }`. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ClientErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }

  /** The error of an answer. */
  static from({ code, message, details }: ErrorBody): ClientError {
    return new ClientError(code, message, details && { details });
  }
}

/** Whether an error is a `ClientError` with one of the codes. */
export const hasCode = <C extends ClientErrorCode>(
  error: unknown,
  ...codes: readonly C[]
): error is ClientError & { readonly code: C } =>
  error instanceof ClientError && (codes as readonly ClientErrorCode[]).includes(error.code);
