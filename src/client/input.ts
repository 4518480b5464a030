import type { RequestInput } from '../core/protocol/requests.js';
import { accepted } from './contract/errors.js';
import type { ClientLink } from './link.js';

/** Options of typed input. */
export interface InputOptions {
  /** Keys to press after the data, such as `Up`, `F5`, `C-c` and `M-x`. */
  readonly keys?: readonly string[] | undefined;
  /**
   * Signal the end of input after the data.
   * @default false
   */
  readonly eof?: boolean | undefined;
}

/** Acknowledgement of typed input. */
export interface AcceptedInput {
  /** Number of bytes that the terminal has accepted. */
  readonly accepted_bytes: number;
}

/**
 * Types into the terminal of a command, or of the running command of a session. The answer has no time limit: a person
 * may have to confirm the input first.
 * @throws ClientError, ConfirmationRequiredError
 */
export async function sendInput(
  link: ClientLink,
  target: Pick<RequestInput<'send_input'>, 'command_id' | 'session_id'>,
  data: string,
  { eof, keys }: InputOptions,
): Promise<AcceptedInput> {
  return accepted(
    await link.request(
      'send_input',
      { ...target, data, eof, ...(keys && { keys: [...keys] }) },
      { timeoutMs: Infinity },
    ),
  );
}
