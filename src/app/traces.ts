import { type ConfigurationError, configurationError } from '../config/model/problems.js';
import { NO_TRACES, type Traces } from '../core/traces.js';
import type { SecretMask } from '../core/secrets.js';

import type { EngineContext } from './runtime-context.js';

/**
 * Builds the traces, and loads OpenTelemetry only if they are on. They are closed after what they show.
 * @throws ConfigurationError when a package is missing
 */
export async function buildTraces(
  { configuration, closers, log: logs }: EngineContext,
  { secrets, version, instance }: { readonly secrets: SecretMask; readonly version: string; readonly instance: string },
): Promise<Traces> {
  const { enabled, includeCommand, endpoint, sampleRatio, serviceName } = configuration().traces;
  if (!enabled) return NO_TRACES;
  const { EXPORT_PACKAGES, startExport } = await import('../traces/export.js');
  const { OpenTelemetryTraces } = await import('../traces/open-telemetry.js');
  try {
    const log = logs('traces');
    closers.push(await startExport({ endpoint, sampleRatio, serviceName, version, instanceId: instance, log }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw missing(EXPORT_PACKAGES, error as Error);
  }
  return new OpenTelemetryTraces({ version, secrets, includesCommand: includeCommand });
}

function missing(packages: readonly string[], cause: Error): ConfigurationError {
  const message = `needs packages that are not installed: npm install ${packages.join(' ')}`;
  return configurationError('traces.enabled', message, { cause });
}
