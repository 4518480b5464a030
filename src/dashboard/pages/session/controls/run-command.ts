import type { RequestInput } from '../../../../client/index.js';
import type { DaemonConnection } from '../../../state/connection.js';

/** What is said about a command that does not run. */
export interface RunAnswer {
  readonly text: string;
  /** Whether it waits for a confirmation. */
  readonly isWaiting: boolean;
}

/**
 * Runs a command in the background: its output comes through the observed session, so that this page never holds it.
 * Returns undefined when it runs, or waits for those before it.
 */
export async function runCommand(
  connection: Pick<DaemonConnection, 'request'>,
  request: Pick<RequestInput<'execute_command'>, 'session_id' | 'command' | 'tty'>,
): Promise<RunAnswer | undefined> {
  try {
    const result = await connection.request('execute_command', { ...request, background: true, stream: false });
    if (result.status === 'confirmation_required') {
      return { isWaiting: true, text: `It has to be confirmed first: ${(result.reasons ?? []).join('; ')}` };
    }
    if (result.status === 'denied') return { isWaiting: false, text: `It was denied: ${result.stderr}` };
    return undefined;
  } catch (error) {
    return { isWaiting: false, text: (error as Error).message };
  }
}
