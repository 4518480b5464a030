import { MAX_TICK_ENTRIES } from '../../core/protocol/results.js';
import type { Principal } from '../../core/access/principal.js';
import type { EventSink } from '../registry/caller.js';

/** A client that a source sends events to. */
export interface Subscriber {
  readonly principal: Principal;
  readonly sink: EventSink;
}

/** Sends one subscriber what has changed in a topic since the last call; the first call sends everything. */
export type Feed = () => void | Promise<void>;

/** The changes of one topic. Costs nothing before `open` and after `close`. */
export interface Source {
  /** Begins to observe: there is a subscriber. */
  open?(): void;
  /** Looks at what has changed, for the feeds of this tick. */
  look?(): void;
  /** Ends what `open` has begun: there is no subscriber any more. */
  close?(): void;
  /** Makes the feed of a subscriber. Only called while open. */
  feed(subscriber: Subscriber): Feed;
}

/** The entries of one event, the newest first, and whether others were left out. */
export function limited<T>(entries: readonly T[]): { readonly entries: readonly T[]; readonly mark: TruncatedMark } {
  const isTruncated = entries.length > MAX_TICK_ENTRIES;
  return { entries: entries.slice(0, MAX_TICK_ENTRIES), mark: isTruncated ? { truncated: true } : {} };
}

/** Says in an event that entries were left out. */
type TruncatedMark = { readonly truncated?: true };
