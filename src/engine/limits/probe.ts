import { AdapterError } from '../../core/errors.js';
import { LIMIT_MECHANISM_NAMES, type LimitMechanismName } from '../../core/limits/limits.js';
import { ControlGroups1 } from './cgroup1.js';
import { ControlGroups2 } from './cgroup2.js';
import type { LimitMechanism } from './mechanism.js';
import { Polling } from './polling.js';

/** A better mechanism that was tried, and why it cannot be used. */
interface Rejection {
  readonly mechanism: LimitMechanismName;
  readonly reason: string;
}

/** What limits are kept by, and why not by something better. */
export interface ChosenMechanism {
  readonly mechanism: LimitMechanism;
  readonly rejected: readonly Rejection[];
}

function make(name: LimitMechanismName, instance: string, isWanted: boolean): LimitMechanism {
  switch (name) {
    case 'cgroup2':
      return new ControlGroups2({ instance, mayLackControllers: isWanted });
    case 'cgroup1':
      return new ControlGroups1(instance);
    case 'polling':
      return new Polling();
  }
}

function makeWanted(name: LimitMechanismName, instance: string): LimitMechanism {
  try {
    return make(name, instance, true);
  } catch (error) {
    const why = (error as Error).message;
    throw new AdapterError('INTERNAL', `limit_mechanism: ${name} does not work here: ${why}`, { cause: error });
  }
}

/**
 * Takes the best mechanism that works, by trying, or the wanted one.
 * @param instance names the daemon's own groups
 * @throws AdapterError when the wanted one does not work
 */
export function chooseMechanism(instance: string, wanted: LimitMechanismName | 'auto'): ChosenMechanism {
  if (wanted !== 'auto') return { mechanism: makeWanted(wanted, instance), rejected: [] };
  const rejected: Rejection[] = [];
  for (const name of LIMIT_MECHANISM_NAMES) {
    try {
      return { mechanism: make(name, instance, false), rejected };
    } catch (error) {
      rejected.push({ mechanism: name, reason: (error as Error).message });
    }
  }
  throw new Error('unreachable: polling always works');
}
