import { basename, dirname } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import {
  DRIVER_NAMES,
  type DriverName,
  type LlmSettings,
  type ShellProviderSettings,
} from '../../core/llm/settings.js';
import { findProgram } from '../../engine/shells/list.js';
import { claude, cursorAgent, qwen } from './drivers/claude.js';
import { codex, opencode } from './drivers/codex-opencode.js';
import { type CliDriver, generic } from './drivers/driver.js';
import { gemini } from './drivers/gemini.js';
import type { ShellProvider } from './invocation.js';
import type { Availability } from './providers.js';

/** All tools with a driver. A new one needs an entry here, and its name in `DRIVER_NAMES`. */
export const DRIVERS: Readonly<Record<DriverName, CliDriver>> = {
  claude,
  gemini,
  'cursor-agent': cursorAgent,
  opencode,
  codex,
  qwen,
};

/** Variables that every tool inherits from the daemon: network and file locations. */
const COMMON_VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'XDG_*',
];

/** Settings of a driver without any configuration. */
export const UNCHANGED: ShellProviderSettings = { stdinMode: 'pipe', output: 'auto', accessArgs: {}, env: {} };

/** The available command-line tools: those with a driver, and those of the configuration. Runs none of them. */
export class ShellCatalogue {
  readonly #settings: () => LlmSettings;
  readonly #path: string;

  /** @param path PATH of the tools, unless their environment has another */
  constructor(settings: () => LlmSettings, path: string) {
    this.#settings = settings;
    this.#path = path;
  }

  /** All names, those of the configuration first. */
  get names(): readonly string[] {
    const configured = Object.keys(this.#settings().shellProviders);
    return [...new Set([...configured, ...DRIVER_NAMES])];
  }

  /** Availability of a tool: its program exists. No process is started. */
  availability(name: string): Availability {
    if (this.#settings().skipCli) {
      return { available: false, reason: 'command-line tools are switched off (llm.skip_cli)' };
    }
    const { driver, settings } = this.find(name);
    const wanted =
      settings.command === undefined ? (driver === generic ? [name] : driver.binaries) : [settings.command];
    const path = settings.env['PATH']?.reveal() ?? this.#path;
    const found = wanted.map((command) => locate(command, path)).find((file) => file !== undefined);
    if (found !== undefined) return { available: true, command: found };
    return { available: false, reason: `${wanted.join(' or ')} is not installed, or not on PATH` };
  }

  /** Timeout of a provider's answer when the request has none, in milliseconds. */
  timeoutMsOf(name: string): number {
    return this.find(name).settings.timeoutMs ?? this.#settings().timeoutMs;
  }

  /**
   * A tool's own variables, in rising precedence: those of its driver, those of the daemon, those of the access mode,
   * and those of the configuration.
   * @param access variables of the access mode
   * @param isForeign whether the tool runs as another user: variables of the daemon may be keys that are not for it
   */
  environmentOf(
    { driver, settings }: ShellProvider,
    access: Readonly<Record<string, string>> = {},
    isForeign = false,
  ): Record<string, string> {
    if (isForeign) return { ...driver.env, ...access };
    const own = Object.entries(settings.env).map(([name, secret]) => [name, secret.reveal()] as const);
    const inherited = this.#settings().variables.pick([...COMMON_VARIABLES, ...driver.variables]);
    return { ...driver.env, ...inherited, ...access, ...Object.fromEntries(own) };
  }

  /**
   * Returns a tool with its settings.
   * @throws AdapterError PROVIDER_NOT_FOUND
   */
  find(name: string): ShellProvider {
    const { shellProviders } = this.#settings();
    const settings = Object.hasOwn(shellProviders, name) ? shellProviders[name] : undefined;
    const driverName = settings?.driver ?? name;
    const driver = Object.hasOwn(DRIVERS, driverName) ? DRIVERS[driverName as DriverName] : undefined;
    if (settings) return { name, driver: driver ?? generic, settings };
    if (driver) return { name, driver, settings: UNCHANGED };
    throw new AdapterError('PROVIDER_NOT_FOUND', `there is no shell provider ${JSON.stringify(name)}`, {
      details: { shell_provider: name, shell_providers: this.names },
    });
  }
}

/** Finds a program by its name on PATH, or by its absolute path. */
const locate = (command: string, path: string): string | undefined =>
  command.includes('/') ? findProgram(basename(command), dirname(command)) : findProgram(command, path);
