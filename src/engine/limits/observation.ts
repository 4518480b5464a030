import type { LimitMechanismName } from '../../core/limits/limits.js';
import type { LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';
import { type Membership, ObservedGroup } from './observed-group.js';
import type { ProcessSnapshot, UsageReader } from './process-snapshot.js';

/** Base of the mechanisms that enforce limits by sampling, without help of the kernel. */
export abstract class Observation implements LimitMechanism {
  abstract readonly name: LimitMechanismName;
  abstract readonly nameWithoutLimits: LimitMechanismName;
  readonly isEnforced = false;
  readonly directories = [];
  protected readonly reader: UsageReader;
  readonly #groups = new Set<ObservedGroup>();

  constructor(reader: UsageReader) {
    this.reader = reader;
  }

  createGroup(tag: string, isInNamespace = false): ProcessGroup {
    const group: ObservedGroup = new ObservedGroup({
      membership: this.membershipOf(tag, isInNamespace),
      reader: this.reader,
      onDispose: () => this.#groups.delete(group),
    });
    this.#groups.add(group);
    return group;
  }

  sample(): Promise<ProcessSnapshot> {
    return this.reader.sample();
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

  /**
   * @param tag of the group's processes, `instance.session`
   * @param isInNamespace whether the group's processes are in their own namespace
   */
  protected abstract membershipOf(tag: string, isInNamespace: boolean): Membership;
}
