import { CLIENT_ERRORS } from '../core/error-catalogue.js';
import type { ErrorBody, ErrorCode, ErrorDetails } from '../core/errors.js';
import type { ConfirmationInfo } from '../core/protocol/confirmations.js';
import type { Answer } from '../core/protocol/requests.js';
import type { CommandResult } from '../core/protocol/results.js';

/** Error codes of the client, each with its meaning; the daemon's codes are in the protocol's catalogue. */
export const CLIENT_ERROR_CODES = Object.fromEntries(
  Object.entries(CLIENT_ERRORS).map(([code, { meaning }]) => [code, meaning]),
) as Readonly<Record<keyof typeof CLIENT_ERRORS, string>>;

/** Code of a `ClientError`: the client's own, or one of the daemon's. */
export type ClientErrorCode = keyof typeof CLIENT_ERROR_CODES | ErrorCode;

/** Rejection reason of every promise of the client: a failure of the connection, or the daemon's `{ error }`. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
  readonly code: ClientErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ClientErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }

  /** Converts the error of an answer. */
  static from({ code, message, details }: ErrorBody): ClientError {
    return new ClientError(code, message, details && { details });
  }
}

/**
 * A command or input that has to be confirmed, and how. `requires: 'self'` means that this client can do it with
 * `AdapterClient.confirm`.
 */
export type PendingConfirmation = Pick<
  ConfirmationInfo,
  'confirmation_id' | 'command_sha256' | 'class' | 'reasons' | 'commands' | 'expires_at' | 'requires'
>;

/** The daemon has run or typed nothing, because it has to be confirmed first with `AdapterClient.confirm`. */
export class ConfirmationRequiredError extends ClientError {
  override readonly name = 'ConfirmationRequiredError';
  readonly confirmation: PendingConfirmation;
  /** The daemon's answer, unchanged; undefined for typed input. */
  readonly result: CommandResult | undefined;

  constructor(confirmation: PendingConfirmation, result?: CommandResult) {
    const { reasons, requires, confirmation_id: id } = confirmation;
    const by = { self: 'this client', operator: 'an operator', llm: 'a model' }[requires];
    super('CONFIRMATION_REQUIRED', `it has to be confirmed by ${by} first (${id}): ${reasons.join('; ')}`, {
      details: { ...confirmation },
    });
    this.confirmation = confirmation;
    this.result = result;
  }
}

/** A result of a command that was not stopped by a confirmation. */
export type AdmittedResult = CommandResult & {
  readonly status: Exclude<CommandResult['status'], 'confirmation_required'>;
};

/** Fields besides the status of an answer that has to be confirmed first. */
type Unconfirmed = { readonly [Name in keyof PendingConfirmation]?: PendingConfirmation[Name] | undefined };

function termsOf(answer: Unconfirmed): PendingConfirmation {
  const { confirmation_id: id = '', command_sha256: sha256 = '', expires_at: expiresAt = '' } = answer;
  return {
    confirmation_id: id,
    command_sha256: sha256,
    expires_at: expiresAt,
    class: answer.class ?? 'obfuscated',
    reasons: answer.reasons ?? [],
    commands: answer.commands ?? [],
    requires: answer.requires ?? 'operator',
  };
}

/**
 * Returns the result, unless the command has to be confirmed first.
 * @throws ConfirmationRequiredError
 */
export function admitted(result: CommandResult): AdmittedResult {
  const { status } = result;
  if (status !== 'confirmation_required') return { ...result, status };
  throw new ConfirmationRequiredError(termsOf(result), result);
}

/**
 * Returns the answer about typed input, unless the input has to be confirmed first.
 * @throws ConfirmationRequiredError
 */
export function accepted(answer: Answer<'send_input'>): { readonly accepted_bytes: number } {
  if (answer.status !== 'confirmation_required') return { accepted_bytes: answer.accepted_bytes };
  throw new ConfirmationRequiredError(termsOf(answer));
}

/**
 * Returns the answer to a request about files, unless it has to be confirmed first.
 * @throws ConfirmationRequiredError
 */
export function admittedFile<A extends Unconfirmed & { readonly status?: 'confirmation_required' | undefined }>(
  answer: A,
): A {
  if (answer.status !== 'confirmation_required') return answer;
  throw new ConfirmationRequiredError(termsOf(answer));
}

/** Whether an error is a `ClientError` with one of the codes. */
export const hasCode = <C extends ClientErrorCode>(
  error: unknown,
  ...codes: readonly C[]
): error is ClientError & { readonly code: C } =>
  error instanceof ClientError && (codes as readonly ClientErrorCode[]).includes(error.code);
