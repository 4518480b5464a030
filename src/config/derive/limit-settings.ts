import type { Limits } from '../../core/limits/limits.js';
import type { Configuration } from '../model/configuration.js';

/** Collects the settings of a configuration from which the limits in force follow. */
export const limitSettings = ({
  adapter: { resourceLimits, diskFreeMbFloor, safetyNet, workspaceDirectory },
}: Configuration): {
  readonly resources: Limits;
  readonly diskFreeMbFloor: number | undefined;
  readonly safetyNet: boolean;
  readonly workspaceDirectory: string;
} => ({ resources: resourceLimits, diskFreeMbFloor, safetyNet, workspaceDirectory });
