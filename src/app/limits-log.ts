import type { LimitMechanismName } from '../core/limits/limits.js';
import type { LimitsInForce } from '../core/limits/safety-net.js';
import type { Log } from '../core/logging/log.js';
import type { ChosenMechanism } from '../engine/limits/probe.js';

const MECHANISMS: Readonly<Record<LimitMechanismName, string>> = {
  cgroup2: 'the kernel (control groups, version 2)',
  cgroup1: 'the kernel (control groups, version 1)',
  pid_namespace: 'sampling the processes, in a PID namespace of each session',
  polling: 'sampling the processes',
};

/**
 * Logs how resource limits are enforced: one plain line at `info` if the configuration sets a limit, and the details
 * (mechanism, why better ones cannot be used, and the safety net) at `debug`.
 */
export function logLimits(limits: LimitsInForce, { mechanism, rejected }: ChosenMechanism, log: Log): void {
  const { name, nameWithoutLimits } = mechanism;
  if (limits.isConfigured) log.info(`resource limits are enforced by ${MECHANISMS[name]}`);
  log.debug('limit mechanism', { mechanism: name, without_limits: nameWithoutLimits, rejected });
  log.debug('safety net', { ...limits.net.resources, disk_free_mb: limits.net.diskFreeMbFloor });
}
