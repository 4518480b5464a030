import { basename, dirname } from 'node:path';

import { AdapterError } from '../core/errors.js';
import { DRIVER_NAMES, type LlmSettings, type ShellProviderSettings } from '../core/llm/settings.js';
import { findProgram } from '../engine/shells/list.js';
import type { Availability } from './call.js';
import { generic } from './drivers/generic.js';
import { driverNamed } from './drivers/list.js';
import type { ShellProvider } from './invocation.js';

/** Variables of the daemon that every tool gets: how to reach the network, and where its files are. */
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

/** A driver as it is, without a word in the configuration. */
export const UNCHANGED: ShellProviderSettings = {
  driver: undefined,
  command: undefined,
  args: undefined,
  promptFlag: undefined,
  modelFlag: undefined,
  systemFlag: undefined,
  stdinMode: 'pipe',
  model: undefined,
  timeoutMs: undefined,
  idleTimeoutMs: undefined,
  output: 'auto',
  promptStyle: undefined,
  maxPromptBytes: undefined,
  access: undefined,
  accessArgs: {},
  concurrency: undefined,
  env: {},
};

/** The command-line tools that can answer: those with a driver, and those of the configuration. Runs none of them. */
export class ShellCatalogue {
  readonly #settings: () => LlmSettings;
  readonly #path: string;

  /** @param path PATH of the tools, unless their environment has another */
  constructor(settings: () => LlmSettings, path: string) {
    this.#settings = settings;
    this.#path = path;
  }

  /** Names of all of them, those of the configuration first. */
  get names(): readonly string[] {
    const configured = Object.keys(this.#settings().shellProviders);
    return [...new Set([...configured, ...DRIVER_NAMES])];
  }

  /** Whether one can be run: its program is there. Nothing is started for that. */
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

  /** The time that a provider has for an answer, when nobody says another. */
  timeoutMsOf(name: string): number {
    return this.find(name).settings.timeoutMs ?? this.#settings().timeoutMs;
  }

  /**
   * Its own variables, the strongest last: what keeps the tool quiet, what the daemon has, what grants or denies access, and
   * what the configuration says.
   * @param access variables of the access mode
   */
  environmentOf(
    { driver, settings }: ShellProvider,
    access: Readonly<Record<string, string>> = {},
  ): Record<string, string> {
    const own = Object.entries(settings.env).map(([name, secret]) => [name, secret.reveal()] as const);
    const inherited = this.#settings().variables.pick([...COMMON_VARIABLES, ...driver.variables]);
    return { ...driver.env, ...inherited, ...access, ...Object.fromEntries(own) };
  }

  /** @throws AdapterError PROVIDER_NOT_FOUND */
  find(name: string): ShellProvider {
    const { shellProviders } = this.#settings();
    const settings = Object.hasOwn(shellProviders, name) ? shellProviders[name] : undefined;
    const driver = driverNamed(settings?.driver ?? name);
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
