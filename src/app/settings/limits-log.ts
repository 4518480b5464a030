import { LIMIT_KEYS, type LimitMechanismName, type LimitName } from '../../core/limits/limits.js';
import type { LimitsInForce } from '../../core/limits/safety-net.js';
import type { Log } from '../../core/logging/log.js';
import { nameWithoutLimits } from '../../engine/limits/mechanism.js';
import type { ChosenMechanism } from '../../engine/limits/probe.js';

const MECHANISMS: Readonly<Record<LimitMechanismName, string>> = {
  cgroup2: 'the kernel (control groups, version 2)',
  cgroup1: 'the kernel (control groups, version 1)',
  pid_namespace: 'sampling the processes, in a PID namespace of each session',
  polling: 'sampling the processes',
};

/**
 * Logs how resource limits are enforced: one plain line at `info` if the configuration sets a limit, and the details
 * (mechanism, why better ones cannot be used, and the safety net) at `debug`. Warns of limits that cannot be enforced.
 */
export function logLimits(
  limits: LimitsInForce,
  { mechanism, rejected }: ChosenMechanism,
  unenforceable: readonly LimitName[],
  log: Log,
): void {
  const { name } = mechanism;
  if (limits.isConfigured) log.info(`resource limits are enforced by ${MECHANISMS[name]}`);
  for (const limit of unenforceable.filter((each) => limits.configured.resources[each] !== undefined)) {
    log.warn('a limit of the configuration cannot be enforced on this platform', { limit: LIMIT_KEYS[limit] });
  }
  log.debug('limit mechanism', { mechanism: name, without_limits: nameWithoutLimits(mechanism), rejected });
  log.debug('safety net', { ...limits.net.resources, disk_free_mb: limits.net.diskFreeMbFloor });
}
