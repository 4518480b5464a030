import type { Command } from 'commander';

import type { SocketioConfiguration } from '../config/configuration.js';
import type { Context } from './context.js';
import { CommandLineError } from './failure.js';

/** How a subcommand that talks to a daemon is told where it is. */
export interface DaemonOptions {
  readonly url?: string;
  readonly config?: string;
}

/** Where a daemon is, and how that was found out. */
export interface DaemonAddress {
  readonly url: string;
  /** For messages: `--url`, `SHELL_ADAPTER_URL`, or the configuration file. */
  readonly source: string;
}

/** Adds the flags that tell where the daemon is. */
export const withDaemonOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'where the daemon listens')
    .option('-c, --config <file>', 'the configuration file that tells it');

/** The address that a daemon with this configuration listens on; undefined when it takes any free port. */
export function urlOf({ host, port }: Pick<SocketioConfiguration, 'host' | 'port'>): string | undefined {
  return port === 0 ? undefined : `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Finds the daemon: `--url`, then SHELL_ADAPTER_URL, then the configuration.
 * @throws ConfigurationError, CommandLineError
 */
export async function findDaemon({ url, config }: DaemonOptions, { env, cwd }: Context): Promise<DaemonAddress> {
  if (url !== undefined) return { url: checkUrl(url, '--url'), source: '--url' };
  const fromEnvironment = env['SHELL_ADAPTER_URL'] || undefined;
  if (fromEnvironment !== undefined && config === undefined) {
    return { url: checkUrl(fromEnvironment, 'SHELL_ADAPTER_URL'), source: 'SHELL_ADAPTER_URL' };
  }
  // The schemas take their time to load, and a URL needs none of them.
  const [{ readConfiguration, withoutProof }, { findConfigurationFile }] = await Promise.all([
    import('../config/read.js'),
    import('../config/locate.js'),
  ]);
  const { socketio, file = 'the defaults' } = readConfiguration(
    { ...findConfigurationFile({ flag: config, env, cwd }), env, cwd },
    withoutProof,
  );
  const found = urlOf(socketio);
  if (found !== undefined) return { url: found, source: file };
  throw new CommandLineError(`${file} has port 0: which one the daemon took is not known`, {
    hint: 'Give the address that the daemon printed, with --url or SHELL_ADAPTER_URL.',
  });
}

function checkUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol) && url.host !== '') return text;
  throw new CommandLineError(`${source}: ${JSON.stringify(text)} is not a URL`, {
    hint: 'It looks like http://127.0.0.1:8087',
  });
}
