import { InheritedCounter } from '../../core/limits/inherited-counter.js';
import { type Limits, MB } from '../../core/limits/limits.js';
import { isAlive, listChildren, type ProcessEntry, readProcess, TICKS_PER_SECOND } from '../process-table.js';
import { heldBytesOf, residentBytes } from './memory-of.js';
import type { GroupSample, KernelActions, LimitMechanism, ProcessGroup, TotalUsage } from './mechanism.js';
import { ProcessSnapshot, TagMemory } from './process-snapshot.js';

const MS_PER_TICK = 1000 / TICKS_PER_SECOND;
const NOTHING_DONE: KernelActions = { kills: 0, refusedForks: 0 };
/** From this share of its limit on, memory is measured more exactly, and at twice the cost. */
const EXACT_SHARE = 0.5;

/**
 * Keeps limits by looking: the kernel bounds nothing, and what a process is part of is told by its parent, its session and
 * its environment. A process that has changed all three before it was first seen is not found.
 */
export class Polling implements LimitMechanism {
  readonly name = 'polling';
  readonly isEnforced = false;
  readonly directories = [];
  readonly #tags = new TagMemory();
  readonly #groups = new Set<ObservedGroup>();
  #lastSnapshot: ProcessSnapshot | undefined;

  createGroup(tag: string): ProcessGroup {
    const group = new ObservedGroup(
      tag,
      (snapshot) => this.#tagsOf(snapshot),
      () => this.#groups.delete(group),
    );
    this.#groups.add(group);
    return group;
  }

  totals(): TotalUsage {
    const snapshot = new ProcessSnapshot();
    const samples = [...this.#groups].map((group) => group.sample(snapshot));
    return {
      memoryBytes: samples.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
      tasks: samples.reduce((sum, { tasks }) => sum + tasks, 0),
    };
  }

  [Symbol.dispose](): void {
    this.#groups.clear();
  }

  #tagsOf(snapshot: ProcessSnapshot): TagMemory {
    if (snapshot !== this.#lastSnapshot) this.#tags.keepOnly(new Set(snapshot.all().map(({ pid }) => pid)));
    this.#lastSnapshot = snapshot;
    return this.#tags;
  }
}

class ObservedGroup implements ProcessGroup {
  readonly entrances = [];
  readonly exits = [];
  readonly #tag: string;
  readonly #tagsOf: (snapshot: ProcessSnapshot) => TagMemory;
  readonly #onDispose: () => void;
  readonly #cpu = new InheritedCounter();
  readonly #written = new InheritedCounter();
  /** Members that were seen: they stay members wherever they move. */
  #known = new Map<number, ProcessEntry>();
  #root: number | undefined;
  #memoryMb = Infinity;

  constructor(tag: string, tagsOf: (snapshot: ProcessSnapshot) => TagMemory, onDispose: () => void) {
    this.#tag = tag;
    this.#tagsOf = tagsOf;
    this.#onDispose = onDispose;
  }

  begin(pid: number): Promise<void> {
    this.#root = pid;
    const entry = readProcess(pid);
    for (const member of [...(entry ? [entry] : []), ...listChildren(pid)]) this.#known.set(member.pid, member);
    return Promise.resolve();
  }

  setLimits({ memory_mb: memoryMb = Infinity }: Limits): void {
    this.#memoryMb = memoryMb;
  }

  /** In steps of 10 ms: the shell and what it has waited for. */
  cpuMs(): number | undefined {
    const ticks = this.#root === undefined ? undefined : readProcess(this.#root)?.cpuTicks;
    return ticks === undefined ? undefined : ticks * MS_PER_TICK;
  }

  members(): readonly number[] {
    return [...this.#known.values()].filter(isAlive).map(({ pid }) => pid);
  }

  sample(snapshot: ProcessSnapshot): GroupSample {
    const found = this.#findMembers(snapshot);
    this.#known = new Map(found.map((entry) => [entry.pid, entry]));
    const members = found.filter(hasNotEnded);
    const upper = residentBytes(members);
    return {
      cpuMs: this.#cpu.update(found.map((entry) => ({ ...entry, value: entry.cpuTicks }))) * MS_PER_TICK,
      memoryBytes: upper > this.#memoryMb * MB * EXACT_SHARE ? heldBytesOf(members) : upper,
      tasks: members.reduce((sum, entry) => sum + entry.threads, 0),
      writtenBytes: this.#written.update(found.map((entry) => ({ ...entry, value: snapshot.writtenBy(entry.pid) }))),
      pids: members.map(({ pid }) => pid),
    };
  }

  takeKernelActions(): KernelActions {
    return NOTHING_DONE;
  }

  peakMemoryBytes(): undefined {
    return undefined;
  }

  /** Nothing can hold them: whoever kills the members has to look again until there are no new ones. */
  holdForks(): void {
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#known.clear();
    this.#onDispose();
  }

  /** Those are among them that have ended and were not waited for: their parents do not have their counters yet. */
  #findMembers(snapshot: ProcessSnapshot): ProcessEntry[] {
    const tags = this.#tagsOf(snapshot);
    const table = snapshot.all();
    const members = new Set<number>();
    for (const entry of table) {
      const isKnown = this.#known.get(entry.pid)?.startTicks === entry.startTicks;
      const isOnTerminal = this.#root !== undefined && entry.session === this.#root;
      if (isKnown || isOnTerminal || `${tags.tagOf(entry) ?? ''}.`.startsWith(`${this.#tag}.`)) members.add(entry.pid);
    }
    for (let before = -1; before < members.size;) {
      before = members.size;
      for (const entry of table) if (members.has(entry.parent)) members.add(entry.pid);
    }
    return table.filter(({ pid }) => members.has(pid));
  }
}

const hasNotEnded = ({ state }: ProcessEntry): boolean => state !== 'Z' && state !== 'X';
