import { AdapterError } from '../../core/errors.js';
import { LIMIT_MECHANISM_NAMES, type LimitMechanismName } from '../../core/limits.js';
import { ControlGroups1 } from './cgroup1.js';
import { ControlGroups2 } from './cgroup2.js';
import type { LimitMechanism } from './mechanism.js';
import { PidNamespace } from '../sandbox/launcher.js';
import { Polling } from './polling.js';
import type { Platform } from '../platform/platform.js';

/** A better mechanism that was tried, and the reason why it cannot be used. */
interface Rejection {
  readonly mechanism: LimitMechanismName;
  readonly reason: string;
}

/** The chosen mechanism, and the better ones that were rejected. */
export interface ChosenMechanism {
  readonly mechanism: LimitMechanism;
  readonly rejected: readonly Rejection[];
}

export interface MechanismOptions {
  /** Part of the names of the daemon's groups. */
  readonly instance: string;
  /** Search path for bubblewrap. */
  readonly path: string;
  readonly platform: Platform;
}

/** @throws Error for a mechanism that the platform does not have */
function assertPossible(name: LimitMechanismName, { can, name: platform }: Platform): void {
  const isPossible = name === 'polling' || (name === 'pid_namespace' ? can.sandbox : can.controlGroups);
  if (!isPossible) throw new Error(`the platform \`${platform}\` has polling alone`);
}

function make(name: LimitMechanismName, options: MechanismOptions, isWanted: boolean): LimitMechanism {
  const { instance, path, platform } = options;
  assertPossible(name, platform);
  switch (name) {
    case 'cgroup2':
      return new ControlGroups2(instance, isWanted);
    case 'cgroup1':
      return new ControlGroups1(instance);
    case 'pid_namespace':
      return new Polling(platform, PidNamespace.find(path, !isWanted));
    case 'polling':
      return new Polling(platform);
  }
}

function makeWanted(name: LimitMechanismName, options: MechanismOptions): LimitMechanism {
  try {
    return make(name, options, true);
  } catch (error) {
    const why = (error as Error).message;
    throw new AdapterError('INTERNAL', `limit_mechanism: ${name} does not work here: ${why}`, { cause: error });
  }
}

/**
 * Selects the best mechanism that works, by trial, or the configured one. Namespaces that were not configured by name
 * are only used for processes with limits: inside, the other processes of the machine are invisible.
 * @throws AdapterError when the configured one does not work
 */
export function chooseMechanism(wanted: LimitMechanismName | 'auto', options: MechanismOptions): ChosenMechanism {
  if (wanted !== 'auto') return { mechanism: makeWanted(wanted, options), rejected: [] };
  const rejected: Rejection[] = [];
  for (const name of LIMIT_MECHANISM_NAMES) {
    try {
      return { mechanism: make(name, options, false), rejected };
    } catch (error) {
      rejected.push({ mechanism: name, reason: (error as Error).message });
    }
  }
  throw new Error('unreachable: polling always works');
}
