import type { LimitMechanismName } from '../../core/limits/limits.js';
import type { PidNamespace } from '../sandbox/pid-namespace.js';
import type { LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';
import { namespaceMembers, observedMembers } from './membership.js';
import { ObservedGroup } from './observed-group.js';
import type { ProcessSnapshot, UsageReader } from './process-snapshot.js';

/**
 * Enforces limits by sampling, without help of the kernel. With a PID namespace, processes in it cannot escape, and end
 * with it.
 */
export class Polling implements LimitMechanism {
  readonly name: LimitMechanismName;
  readonly nameWithoutLimits: LimitMechanismName;
  readonly isEnforced = false;
  readonly directories = [];
  readonly namespace?: PidNamespace;
  readonly #reader: UsageReader;
  readonly #groups = new Set<ObservedGroup>();

  constructor(reader: UsageReader, namespace?: PidNamespace) {
    this.#reader = reader;
    this.name = namespace ? 'pid_namespace' : 'polling';
    this.nameWithoutLimits = namespace?.isForLimitsOnly ? 'polling' : this.name;
    if (namespace) this.namespace = namespace;
  }

  createGroup(tag: string, isInNamespace = false): ProcessGroup {
    const isOwn = isInNamespace && this.namespace !== undefined;
    const group: ObservedGroup = new ObservedGroup({
      membership: isOwn ? namespaceMembers(this.#reader) : observedMembers(this.#reader, tag),
      reader: this.#reader,
      onDispose: () => this.#groups.delete(group),
    });
    this.#groups.add(group);
    return group;
  }

  sample(): Promise<ProcessSnapshot> {
    return this.#reader.sample();
  }

  async totals(): Promise<TotalUsage> {
    const snapshot = await this.sample();
    const samples = [...this.#groups].map((group) => group.sample(snapshot));
    return {
      memoryBytes: samples.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
      tasks: samples.reduce((sum, { tasks }) => sum + tasks, 0),
    };
  }

  [Symbol.dispose](): void {
    this.#groups.clear();
  }
}
