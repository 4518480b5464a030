import type { LimitMechanismName } from '../../core/limits/limits.js';
import type { PidNamespace } from '../sandbox/pid-namespace.js';
import { privateBytesOf } from '../usage/memory-files/file-systems.js';
import { MemoryFiles } from '../usage/memory-files/memory-files.js';
import type { LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';
import { namespaceMembers, observedMembers } from './membership.js';
import { ObservedGroup } from './observed-group.js';
import type { Platform } from '../platform/contract/platform.js';
import type { ListAge, Processes } from '../platform/contract/processes.js';
import { type ProcessSnapshot, takeSnapshot, withFirstOrigins } from '../usage/process-snapshot.js';

/**
 * Enforces limits by sampling, without help of the kernel. With a PID namespace, processes in it cannot escape, and end
 * with it.
 */
export class Polling implements LimitMechanism {
  readonly name: LimitMechanismName;
  readonly isEnforced = false;
  readonly directories = [];
  readonly namespace?: PidNamespace;
  readonly #processes: Processes;
  readonly #groups = new Set<ObservedGroup>();
  readonly #files: MemoryFiles | undefined;

  constructor(platform: Platform, namespace?: PidNamespace) {
    this.#processes = withFirstOrigins(platform.processes);
    if (platform.can.openFiles) this.#files = new MemoryFiles();
    this.name = namespace ? 'pid_namespace' : 'polling';
    if (namespace) this.namespace = namespace;
  }

  createGroup(tag: string, isInNamespace = false): ProcessGroup {
    const processes = this.#processes;
    const isOwn = isInNamespace && this.namespace !== undefined;
    const group: ObservedGroup = new ObservedGroup({
      membership: isOwn ? namespaceMembers(processes) : observedMembers(processes, tag),
      processes,
      fileBytes: (owner, writers) => {
        const sharedBytes = this.#files?.bytesOf(owner, writers) ?? 0;
        return isInNamespace ? sharedBytes + privateBytesOf(writers.pids) : sharedBytes;
      },
      onDispose: () => {
        this.#groups.delete(group);
        this.#files?.forget(group);
      },
    });
    this.#groups.add(group);
    return group;
  }

  sample(age: ListAge = 'new'): Promise<ProcessSnapshot> {
    return takeSnapshot(this.#processes, age);
  }

  programMs(): number {
    return this.#processes.listMs();
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
