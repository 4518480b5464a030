import type { Answer } from '../../client/index.js';
import { hasCode } from '../../client/contract/errors.js';
import type { Context } from '../console/context.js';
import type { DaemonOptions } from './daemon-address.js';
import { CommandLineError } from '../console/failure.js';
import { withDaemon } from './with-daemon.js';

/** Result of querying the address of the daemon. */
export type FoundDaemon =
  /** A daemon that answers. */
  | { readonly state: 'running'; readonly url: string; readonly status: Answer<'daemon_status'> }
  /** A daemon that does not accept this client, or whose status this client may not read. */
  | { readonly state: 'unknown'; readonly why: string; readonly hint: string | undefined }
  /** No daemon. */
  | { readonly state: 'stopped'; readonly why: string };

/**
 * Queries the status of the daemon that the options specify.
 * @throws CommandLineError, ConfigurationError when there is no address to query
 */
export async function findStatus(options: DaemonOptions, context: Context): Promise<FoundDaemon> {
  try {
    return await withDaemon(options, context, async (client) => {
      return { state: 'running', url: client.url, status: await client.request('daemon_status', {}) };
    });
  } catch (error) {
    const cause = error instanceof CommandLineError ? error.cause : error;
    if (hasCode(cause, 'CONNECTION_FAILED')) return { state: 'stopped', why: cause.message };
    if (hasCode(cause, 'REFUSED', 'FORBIDDEN', 'RATE_LIMITED', 'UNKNOWN_REQUEST')) {
      return { state: 'unknown', why: cause.message, hint: (error as Partial<CommandLineError>).hint };
    }
    throw error;
  }
}
