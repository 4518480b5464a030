import type { ShellProviderSettings } from '../core/llm/settings.js';
import type { LlmQuestion } from './call.js';
import type { AccessGrant, CliDriver } from './drivers/driver.js';

/**
 * The arguments and variables that grant a tool the access of the question or the configuration. Configured arguments
 * replace the driver's; nothing is added to them unless an access mode is set.
 */
export function accessGrant(
  { driver, settings }: { readonly driver: CliDriver; readonly settings: ShellProviderSettings },
  { access, isReadOnly = false }: Pick<LlmQuestion, 'access' | 'isReadOnly'>,
): AccessGrant {
  const wanted = access ?? settings.access;
  const mode = isReadOnly ? 'read' : (wanted ?? 'read');
  const grant = driver.access?.[mode];
  const isAsked = wanted !== undefined || settings.args === undefined;
  const args = settings.accessArgs[mode] ?? (isAsked ? grant?.args : undefined) ?? [];
  return { args, env: grant?.env ?? {} };
}
