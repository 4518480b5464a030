import { AdapterError } from '../../core/errors.js';
import type { Request, TypedInput } from '../../core/protocol/requests.js';
import type { OutputStream } from '../../engine/output/output-stream.js';

/** The error for another command with an id in use. */
export const usedId = (id: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `command_id ${id} belongs to another command; choose a new one`, {
    details: { field: 'command_id' },
  });

/** The error for a repeated request whose result is no longer kept. */
export const forgotten = (id: string): AdapterError =>
  new AdapterError('COMMAND_NOT_FOUND', `command ${id} has run, and its result is no longer kept`, {
    details: { command_id: id },
  });

/**
 * Checks that input for a terminal is text.
 * @throws AdapterError NO_RUNNING_COMMAND for bytes, and for fields of streamed inputs
 */
export function textOf({ offset, data, ...rest }: Request<'send_input'>): TypedInput {
  if (offset === undefined && (data === undefined || typeof data === 'string')) return { ...rest, data };
  const field = offset === undefined ? 'data' : 'offset';
  const what = field === 'data' ? 'bytes' : 'an offset';
  const message = `${what} can be sent only to a command that was run with stdin_stream and has not ended`;
  throw new AdapterError('NO_RUNNING_COMMAND', message, { details: { field } });
}

/** The error for typed input to a command without a terminal. */
export const noTerminal = (): AdapterError =>
  new AdapterError(
    'NO_RUNNING_COMMAND',
    'a one-shot command has no terminal: give `stdin` or `stdin_stream`, or use a session',
  );

/**
 * Checks that the bytes from `offset` on are kept.
 * @throws AdapterError OUTPUT_EXPIRED when the stream has bytes from `offset` on, but they were not kept
 */
export function assertKept({ bytes, spool }: OutputStream, offset: number): void {
  const { keptBytes } = spool;
  if (offset < keptBytes || offset >= bytes) return;
  throw new AdapterError('OUTPUT_EXPIRED', `only the first ${keptBytes} of ${bytes} bytes were kept`, {
    details: { kept_bytes: keptBytes, size: bytes, why: spool.error ?? '' },
  });
}
