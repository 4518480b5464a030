import type { ShellProviderSettings } from '../core/llm/settings.js';
import type { LlmQuestion } from './call.js';
import type { AccessGrant, CliDriver } from './drivers/driver.js';

/**
 * The arguments and variables that grant a tool the access of the question or the configuration. Configured arguments
 * replace the driver's; nothing is added to them unless an access mode is set.
 */
export function accessGrant(
  { driver, settings }: { readonly driver: CliDriver; readonly settings: ShellProviderSettings },
  { access, isReadOnly }: Pick<LlmQuestion, 'access' | 'isReadOnly'>,
): AccessGrant {
  const wanted = access ?? settings.access;
  const mode = isReadOnly === true ? 'read' : (wanted ?? 'read');
  const { args, env = {} } = driver.access?.[mode] ?? NO_GRANT;
  const isAsked = wanted !== undefined || settings.args === undefined;
  return { args: settings.accessArgs[mode] ?? (isAsked ? args : []), env };
}

/** The grant of a tool without an option for access. */
const NO_GRANT: AccessGrant = { args: [] };
