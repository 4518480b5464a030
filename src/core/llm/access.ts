import type { AccessMode } from './access-mode.js';
import { DRIVER_NAMES, type ShellProviderSettings } from './settings.js';

/** The settings of a shell provider that determine how an access mode is granted. */
type AccessSettings = Pick<ShellProviderSettings, 'driver' | 'accessArgs'>;

/**
 * The reason why an access mode cannot be granted to a shell provider; undefined when it can. Every driver supports all
 * modes; other tools need a setting in the configuration.
 * @param settings undefined for a provider without an entry in the configuration
 */
export function accessProblem(
  name: string,
  settings: AccessSettings | undefined,
  mode: AccessMode,
): string | undefined {
  const driver = settings?.driver ?? name;
  if (settings?.accessArgs[mode] !== undefined) return undefined;
  if (DRIVER_NAMES.some((known) => known === driver)) return undefined;
  const example = `access_args: { ${mode}: ["--some-option"] }`;
  return `${mode} cannot be granted to ${name}: no driver knows its options; write them into llm.shell_providers.${name}, for example ${example}`;
}
