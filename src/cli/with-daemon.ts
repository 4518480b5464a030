import type { AdapterClient, ClientError } from '../client.js';
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
  const { url, source, token } = await findDaemon(options, context);
  const { connect, ClientError: AnyClientError } = await import('../client.js');
  let client: AdapterClient;
  try {
    client = await connect(url, { token });
  } catch (error) {
    if (!(error instanceof AnyClientError)) throw error;
    const hint = isUnauthorized(error) ? TOKEN_HINT : `The address is from ${source}.`;
    throw new CommandLineError(error.message, { hint, cause: error });
  }
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const TOKEN_HINT =
  'Give a token by SHELL_ADAPTER_TOKEN or --token. `shell-adapter token create`, run as the user of the daemon, makes one.';

/** Whether it is for want of a token that the daemon does not let this program in. */
const isUnauthorized = ({ details }: ClientError): boolean => details?.['code'] === 'UNAUTHORIZED';
