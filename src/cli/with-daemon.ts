import type { AdapterClient } from '../client.js';
import type { Context } from './context.js';
import { type DaemonOptions, findDaemon } from './daemon-address.js';
import { CommandLineError } from './failure.js';

/**
 * Connects to the daemon for the time that `use` takes.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function withDaemon<T>(
  options: DaemonOptions,
  context: Context,
  use: (client: AdapterClient) => Promise<T>,
): Promise<T> {
  const { url, source } = await findDaemon(options, context);
  const { connect, ClientError } = await import('../client.js');
  let client: AdapterClient;
  try {
    client = await connect(url);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw new CommandLineError(error.message, { hint: `The address is from ${source}.`, cause: error });
  }
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}
