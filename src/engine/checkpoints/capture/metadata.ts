import type { Attributes, BytePath, Entry, Skipped } from '../../../core/checkpoints/entry.js';
import { gitModeOf, type TreeItem } from './tree-writer.js';

/** Permissions and owner in the format of a checkpoint. */
type AttributeTuple = readonly [mode: number, uid: number, gid: number];

/** Format version; incremented when an earlier version of the adapter would misread the data. */
export const METADATA_VERSION = 1;

/** The part of a checkpoint that git's trees cannot represent. */
export interface Metadata {
  readonly version: number;
  readonly skipped: readonly Skipped[];
  /** Most frequent attributes per kind of entry. */
  readonly usual: Partial<Record<TreeItem['mode'], AttributeTuple>>;
  /** Attributes of all other entries. */
  readonly unusual: readonly (readonly [path: BytePath, ...attributes: AttributeTuple])[];
}

const tupleOf = ({ mode, uid, gid }: Attributes): AttributeTuple => [mode, uid, gid];

/** Describes the entries of a workspace. */
export function describeEntries(entries: readonly Entry[], skipped: readonly Skipped[]): Metadata {
  const usual: Partial<Record<TreeItem['mode'], AttributeTuple>> = {};
  for (const mode of ['100644', '100755', '120000', '40000'] as const) {
    const most = mostFrequent(entries.filter((entry) => gitModeOf(entry) === mode).map(tupleOf));
    if (most) usual[mode] = most;
  }
  const unusual = entries
    .filter((entry) => String(tupleOf(entry)) !== String(usual[gitModeOf(entry)]))
    .map((entry) => [entry.path, ...tupleOf(entry)] as const);
  return { version: METADATA_VERSION, skipped, usual, unusual };
}

function mostFrequent(tuples: readonly AttributeTuple[]): AttributeTuple | undefined {
  const counts = new Map<string, number>();
  let most: AttributeTuple | undefined;
  for (const tuple of tuples) {
    const count = (counts.get(String(tuple)) ?? 0) + 1;
    counts.set(String(tuple), count);
    if (count > (counts.get(String(most)) ?? 0) || most === undefined) most = tuple;
  }
  return most;
}

/** Returns a function that looks up the attributes of an entry of a checkpoint. */
export function attributeReader({ usual, unusual }: Metadata): (path: BytePath, mode: TreeItem['mode']) => Attributes {
  const exceptions = new Map(unusual.map(([path, ...tuple]) => [path, tuple]));
  return (path, gitMode) => {
    const [mode, uid, gid] = exceptions.get(path) ?? usual[gitMode] ?? [0o755, 0, 0];
    return { mode, uid, gid };
  };
}
