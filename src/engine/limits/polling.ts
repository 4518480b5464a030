import type { ProcessEntry } from '../process-table.js';
import { type Membership, stillThere } from './observed-group.js';
import { Observation } from './observation.js';
import { descendantsIn } from './process-snapshot.js';

/**
 * Keeps limits by looking, and nothing else: what a process is part of is told by its parent, its terminal and its
 * environment. A process that has changed all three before it was first seen is not found.
 */
export class Polling extends Observation {
  readonly name = 'polling';

  protected membershipOf(tag: string): Membership {
    return {
      find: (snapshot, known, root) => {
        // Asked for each process of the machine and each group: what costs least comes first.
        const isMember = (entry: ProcessEntry) =>
          entry.session === root?.pid ||
          known.get(entry.pid)?.startTicks === entry.startTicks ||
          isWithin(snapshot.tagOf(entry), tag) ||
          stillThere(root, entry) === entry.pid;
        const seeds: number[] = [];
        for (const entry of snapshot.all()) if (isMember(entry)) seeds.push(entry.pid);
        return snapshot.of(descendantsIn(snapshot, seeds));
      },
      frameOf: () => [],
      waiterOf: (root) => root.pid,
      now: (known) => [...known.values()].filter((entry) => this.reader.isAlive(entry)).map(({ pid }) => pid),
    };
  }
}

/** Whether a tag is this one, or one of the commands in it. */
const isWithin = (tag: string | undefined, session: string): boolean =>
  tag?.startsWith(session) === true && (tag.length === session.length || tag[session.length] === '.');
