import { existsSync } from 'node:fs';

import { AdapterError } from '../../core/errors.js';
import { LIMIT_MECHANISM_NAMES, type LimitMechanismName } from '../../core/limits/limits.js';
import { ControlGroups1 } from './cgroup1.js';
import { ControlGroups2 } from './cgroup2.js';
import type { LimitMechanism } from './mechanism.js';
import { PidNamespace } from '../sandbox/pid-namespace.js';
import { PidNamespaces } from './pid-namespaces.js';
import { PidusageReader } from './pidusage-reader.js';
import { Polling } from './polling.js';
import { ProcReader } from './proc-reader.js';

/** Whether this system shows processes as files. */
const hasProc = (): boolean => existsSync('/proc/self/stat');

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

/** What a mechanism is chosen with. */
export interface MechanismOptions {
  /** Names the daemon's own groups. */
  readonly instance: string;
  /** Where bubblewrap is looked for. */
  readonly path: string;
}

function make(name: LimitMechanismName, { instance, path }: MechanismOptions, isWanted: boolean): LimitMechanism {
  switch (name) {
    case 'cgroup2':
      return new ControlGroups2({ instance, mayLackControllers: isWanted });
    case 'cgroup1':
      return new ControlGroups1(instance);
    case 'pid_namespace':
      return new PidNamespaces(new ProcReader(), PidNamespace.find(path, !isWanted));
    case 'polling':
      return new Polling(hasProc() ? new ProcReader() : new PidusageReader());
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
 * Takes the best mechanism that works, by trying, or the wanted one. Namespaces that nobody has asked for by name are used
 * for processes with limits only: inside, the other processes of the machine cannot be seen.
 * @throws AdapterError when the wanted one does not work
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
