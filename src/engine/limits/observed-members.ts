import { isOriginIn } from '../process/session-mark.js';
import type { ProcessEntry } from '../process/process-table.js';
import { type Membership, stillThere } from './observed-group.js';
import { descendantsIn, type UsageReader } from './process-snapshot.js';

/**
 * The processes of a session, found by sampling: those with its tag or mark, on its terminal, or descended from a
 * member. Once found, a process stays a member wherever it moves.
 * @param tag `instance.session`
 */
export function observedMembers(reader: UsageReader, tag: string): Membership {
  const isWithin = isOriginIn(tag);
  return {
    find: (snapshot, known, root) => {
      // Called for each process of the machine and each group: the cheapest check comes first.
      const isMember = (entry: ProcessEntry) =>
        entry.session === root?.pid ||
        known.get(entry.pid)?.startTicks === entry.startTicks ||
        isWithin(snapshot.originOf(entry)) ||
        stillThere(root, entry) === entry.pid;
      const seeds: number[] = [];
      for (const entry of snapshot.all()) if (isMember(entry)) seeds.push(entry.pid);
      return snapshot.of(descendantsIn(snapshot, seeds));
    },
    frameOf: () => [],
    reaperOf: (root) => root.pid,
    now: (known) => [...known.values()].filter((entry) => reader.isAlive(entry)).map(({ pid }) => pid),
  };
}
