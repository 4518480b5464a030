import type { ShellProviderSettings } from '../../../src/core/llm/settings.js';
import { UNCHANGED } from '../../../src/services/llm/shell-catalogue.js';

/** Settings of a shell provider of which the configuration says only this. */
export const shellSettings = (written: Partial<ShellProviderSettings> = {}): ShellProviderSettings => ({
  ...UNCHANGED,
  ...written,
});
