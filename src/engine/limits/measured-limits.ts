import { type LimitSet, LimitsInForce, NO_LIMITS, safetyNetFor } from '../../core/limits/safety-net.js';
import { machineSize } from '../system/machine-size.js';

/** Settings from which the limits in force follow. */
export interface LimitSettings extends LimitSet {
  /** Whether limits that are not set are those of the safety net. */
  readonly safetyNet: boolean;
  /** Directory on the disk that is kept from filling up; absolute. */
  readonly workspaceDirectory: string;
}

/** Returns the limits in force. Those of the safety net depend on the size of the machine, which is measured here. */
export const measureLimits = ({ safetyNet, workspaceDirectory, ...configured }: LimitSettings): LimitsInForce =>
  new LimitsInForce(configured, safetyNet ? safetyNetFor(machineSize(workspaceDirectory)) : NO_LIMITS);
