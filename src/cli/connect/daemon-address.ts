import type { Command } from 'commander';

import type { Configuration, SocketioConfiguration } from '../../config/model/configuration.js';
import type { Context } from '../console/context.js';
import { CommandLineError, UsageError } from '../console/failure.js';

/** How a subcommand that talks to a daemon is told where it is. */
export interface DaemonOptions {
  readonly url?: string;
  readonly config?: string;
  readonly token?: string;
}

/** Where a daemon is, and how that was found out. */
export interface DaemonAddress {
  readonly url: string;
  /** For messages: `--url`, `SHELL_ADAPTER_URL`, or the configuration file. */
  readonly source: string;
  /** The token to show; undefined for none. */
  readonly token: string | undefined;
}

type Found = Pick<DaemonAddress, 'url' | 'source'>;

/** Adds the flags that tell where the daemon is. */
export const withDaemonOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'where the daemon listens: http://HOST:PORT, or unix:/PATH')
    .option('-c, --config <file>', 'the configuration file that tells it')
    .option('--token <token>', 'the token to show; SHELL_ADAPTER_TOKEN is safer: other users can see arguments');

/** The address that a daemon with this configuration listens on; undefined when it takes any free port. */
export function urlOf({ host, port, tls }: Pick<SocketioConfiguration, 'host' | 'port' | 'tls'>): string | undefined {
  // A daemon that listens on all addresses is reached over the loopback too.
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const scheme = tls ? 'https' : 'http';
  return port === 0 ? undefined : `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/**
 * The address that was given as such: `--url`, or SHELL_ADAPTER_URL unless `--config` was given; undefined for none.
 * @throws UsageError when it is no address
 */
export function givenUrl({ url, config }: DaemonOptions, { env }: Pick<Context, 'env'>): Found | undefined {
  const fromEnvironment = env['SHELL_ADAPTER_URL'] || undefined;
  if (url !== undefined) return { url: checkUrl(url, '--url'), source: '--url' };
  if (fromEnvironment === undefined || config !== undefined) return undefined;
  return { url: checkUrl(fromEnvironment, 'SHELL_ADAPTER_URL'), source: 'SHELL_ADAPTER_URL' };
}

/**
 * Finds the daemon: `--url`, then `--config`, then SHELL_ADAPTER_URL, then the configuration. The token is that of `--token`, then that of
 * SHELL_ADAPTER_TOKEN; where the configuration says that everybody needs one, then the first one of the daemon.
 * @throws ConfigurationError, UsageError, CommandLineError
 */
export async function findDaemon(options: DaemonOptions, context: Context): Promise<DaemonAddress> {
  const { env, cwd } = context;
  const token = options.token ?? (env['SHELL_ADAPTER_TOKEN'] || undefined);
  const given = givenUrl(options, context);
  if (given) return { ...given, token };
  // The schemas take their time to load, and a URL needs none of them.
  const [{ readConfiguration, skipRuleTests }, { findConfigurationFile }] = await Promise.all([
    import('../../config/read/read.js'),
    import('../../config/read/locate.js'),
  ]);
  const configuration = readConfiguration(
    { ...findConfigurationFile({ flag: options.config, env, cwd }), env, cwd },
    skipRuleTests,
  );
  const { socketio, file = 'the defaults' } = configuration;
  const found = urlOf(socketio);
  if (found !== undefined) return { url: found, source: file, token: token ?? (await firstTokenFor(configuration)) };
  throw new CommandLineError(`${file} has port 0: which one the daemon took is not known`, {
    hint: 'Give the address that the daemon printed, with --url or SHELL_ADAPTER_URL.',
  });
}

/** With `auth.mode: token` this user's own programs need one too, and may read the one that the daemon has made. */
async function firstTokenFor({ auth, adapter }: Configuration): Promise<string | undefined> {
  if (auth.mode !== 'token') return undefined;
  const { TokenFiles } = await import('../../services/access/token-files.js');
  return new TokenFiles(adapter.stateDirectory).readFirstSecret();
}

function checkUrl(text: string, source: string): string {
  if (text.startsWith('unix:/')) return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol) && url.host !== '') return text;
  throw new UsageError(`${source}: ${JSON.stringify(text)} is not a URL`, {
    hint: 'It looks like http://127.0.0.1:8087, or unix:/PATH',
  });
}
