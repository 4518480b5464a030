import type { RequestInput } from '../core/protocol/requests.js';
import { accepted } from './contract/errors.js';
import type { ClientLink } from './link.js';

/** How input is typed. */
export interface InputOptions {
  /** Signal the end of input behind it. Default: false. */
  readonly eof?: boolean | undefined;
}

/** What was typed. */
export interface AcceptedInput {
  /** Bytes that the terminal has taken. */
  readonly accepted_bytes: number;
}

/**
 * Types into the terminal of a command, or of the one that runs in a session. The answer has no time limit: it may wait for a
 * person who confirms it.
 * @throws ClientError, ConfirmationRequiredError
 */
export async function sendInput(
  link: ClientLink,
  target: Pick<RequestInput<'send_input'>, 'command_id' | 'session_id'>,
  data: string,
  { eof }: InputOptions,
): Promise<AcceptedInput> {
  return accepted(await link.request('send_input', { ...target, data, eof }, { timeoutMs: Infinity }));
}
