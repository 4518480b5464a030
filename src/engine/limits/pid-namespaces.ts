import type { LimitMechanismName } from '../../core/limits/limits.js';
import { type ProcessRoot, sandboxRoot } from '../process/process-root.js';
import { readProcess } from '../process/process-table.js';
import type { PidNamespace } from '../sandbox/pid-namespace.js';
import { type Membership, type Root, stillThere } from './observed-group.js';
import { observedMembers } from './observed-members.js';
import { Observation } from './observation.js';
import { descendantsIn, type UsageReader } from './process-snapshot.js';

/**
 * Enforces limits by sampling processes that are in their own PID namespace: all of them descend from its first
 * process, whatever they do, and end with it (pid_namespaces(7)). Processes outside of a namespace are sampled as by
 * `Polling`.
 */
export class PidNamespaces extends Observation {
  readonly name = 'pid_namespace';
  readonly nameWithoutLimits: LimitMechanismName;
  readonly namespace: PidNamespace;

  constructor(reader: UsageReader, namespace: PidNamespace) {
    super(reader);
    this.namespace = namespace;
    this.nameWithoutLimits = namespace.isForLimitsOnly ? 'polling' : 'pid_namespace';
  }

  protected membershipOf(tag: string, isInNamespace: boolean): Membership {
    return isInNamespace ? this.#namespaceMembers() : observedMembers(this.reader, tag);
  }

  #namespaceMembers(): Membership {
    // Searched for until it exists; then it stays the same as long as the namespace does.
    let own: ProcessRoot | undefined;
    const ownOf = ({ pid }: Root) => (own ??= sandboxRoot(pid));
    return {
      find: (snapshot, _known, root) => {
        const leader = root && stillThere(root, snapshot.of([root.pid])[0]);
        return leader === undefined ? [] : snapshot.of(descendantsIn(snapshot, [leader]));
      },
      frameOf: (root) => {
        const { sessionLeader, reaper } = (root && ownOf(root)) ?? {};
        return [sessionLeader, reaper].filter((pid) => pid !== undefined);
      },
      reaperOf: (root) => ownOf(root)?.main,
      now: (_known, root) => {
        const leader = root && stillThere(root, readProcess(root.pid));
        if (leader === undefined) return [];
        // The lists of children are not sufficient: they are kept per thread, and any thread may start a process.
        const snapshot = this.reader.sampleNow();
        return snapshot ? [...descendantsIn(snapshot, [leader])] : [];
      },
    };
  }
}
