import type { Configuration, SocketioConfiguration } from '../../config/model/configuration.js';
import type { Context } from '../console/context.js';
import { CommandLineError, UsageError } from '../console/failure.js';

/** Options by which a subcommand finds the daemon. */
export interface DaemonOptions {
  readonly url?: string;
  readonly config?: string;
  readonly token?: string;
}

export interface DaemonAddress {
  readonly url: string;
  /** Source for messages: `--url`, `SHELL_ADAPTER_URL`, or the configuration file. */
  readonly source: string;
  /** Token for authentication; undefined for none. */
  readonly token: string | undefined;
}

type Found = Pick<DaemonAddress, 'url' | 'source'>;

/** Returns the address that a daemon with this configuration listens on; undefined if it uses any free port. */
export function urlOf({ host, port, tls }: SocketioConfiguration): string | undefined {
  // A daemon that listens on all addresses is reachable over the loopback too.
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const scheme = tls ? 'https' : 'http';
  return port === 0 ? undefined : `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/**
 * Returns the explicit address: `--url`, or SHELL_ADAPTER_URL unless `--config` is given; undefined for none.
 * @throws UsageError when it is not a valid address
 */
export function givenUrl({ url, config }: DaemonOptions, { env }: Context): Found | undefined {
  const fromEnvironment = env['SHELL_ADAPTER_URL'] || undefined;
  if (url !== undefined) return { url: checkUrl(url, '--url'), source: '--url' };
  if (fromEnvironment === undefined || config !== undefined) return undefined;
  return { url: checkUrl(fromEnvironment, 'SHELL_ADAPTER_URL'), source: 'SHELL_ADAPTER_URL' };
}

/**
 * Finds the daemon: `--url`, then `--config`, then SHELL_ADAPTER_URL, then the configuration. The token is that of
 * `--token`, then that of SHELL_ADAPTER_TOKEN, then, if the configuration requires tokens of all clients, the first
 * token of the daemon.
 * @throws ConfigurationError, UsageError, CommandLineError
 */
export async function findDaemon(options: DaemonOptions, context: Context): Promise<DaemonAddress> {
  const token = options.token ?? (context.env['SHELL_ADAPTER_TOKEN'] || undefined);
  const given = givenUrl(options, context);
  if (given) return { ...given, token };
  // Loading the schemas is slow, and a URL does not need them.
  const { configurationOf } = await import('./configuration.js');
  const configuration = configurationOf(context, options.config);
  const { socketio, file = 'the defaults' } = configuration;
  const found = urlOf(socketio);
  if (found !== undefined) return { url: found, source: file, token: token ?? (await firstTokenFor(configuration)) };
  throw new CommandLineError(`${file} has port 0: which one the daemon took is not known`, {
    hint: 'Give the address that the daemon printed, with --url or SHELL_ADAPTER_URL.',
  });
}

/**
 * With `auth.mode: token` programs of the daemon's own user need a token too; they can read the one that the daemon has
 * created.
 */
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

/** Where the dashboard is, for `status` and `doctor`. */
export function describeDashboard(isServed: boolean, url: string): string {
  if (!isServed) return 'off (http.dashboard: false)';
  return `${url.startsWith('unix:') ? 'at the port of the daemon' : url}; \`shell-adapter dashboard\` opens it`;
}
