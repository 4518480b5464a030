import type { ShellProviderSettings } from '../core/llm/settings.js';
import type { LlmQuestion } from './call.js';
import type { AccessGrant, CliDriver } from './drivers/driver.js';

/**
 * What a tool is given so that it may do what the question or the configuration says. Configured arguments replace the
 * driver's, so that nothing is added to them unless an access mode is set.
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
