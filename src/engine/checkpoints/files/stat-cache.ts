import { readFileSync } from 'node:fs';

import type { BytePath } from '../../../core/checkpoints.js';
import { writePrivateFile } from '../../system/local-files.js';
import type { FoundEntry, StatFacts } from './walk.js';

/**
 * A file that was changed so shortly before it was read may change again without a trace in its timestamps, which are
 * as coarse as the file system's clock (2 s on FAT): it is read again the next time. git calls these "racily clean".
 */
const RACY_NS = 2_000_000_000n;

const VERSION = 1;

/** A cached file in the format of the cache file: bigints as strings. */
type Row = readonly [path: BytePath, object: string, size: number, ino: string, mtimeNs: string, ctimeNs: string];

interface CacheFile {
  readonly version: number;
  readonly commit: string;
  readonly trees: readonly string[];
  readonly rows: readonly Row[];
}

/** Files and trees stored by the last walk: unchanged files need not be read again. */
export class StatCache {
  readonly #files = new Map<BytePath, { readonly object: string; readonly size: number; readonly stat: StatFacts }>();
  readonly #trees: Set<string>;
  readonly #startNs: bigint;

  /** @param startMs start of the walk, in milliseconds since 1970 */
  constructor(startMs: number, trees: Iterable<string> = []) {
    this.#startNs = BigInt(Math.floor(startMs)) * 1_000_000n;
    this.#trees = new Set(trees);
  }

  /**
   * Reads the cache that was written with a commit; an empty one when there is none, or it belongs to another commit.
   */
  static load(file: string, commit: string): StatCache {
    const read = commit === '' ? undefined : readCache(file);
    if (read?.version !== VERSION || read.commit !== commit) return new StatCache(0);
    const cache = new StatCache(0, read.trees);
    for (const [path, object, size, ino, mtimeNs, ctimeNs] of read.rows) {
      const stat = { ino: BigInt(ino), mtimeNs: BigInt(mtimeNs), ctimeNs: BigInt(ctimeNs) };
      cache.#files.set(path, { object, size, stat });
    }
    return cache;
  }

  /** Whether the cache is empty. */
  get isEmpty(): boolean {
    return this.#files.size === 0 && this.#trees.size === 0;
  }

  /** Returns the blob of a file that has not changed since it was stored. */
  find({ path, size, stat }: FoundEntry): string | undefined {
    const known = this.#files.get(path);
    if (known?.size !== size || !isSameFile(known.stat, stat)) return undefined;
    return known.stat.ctimeNs === stat.ctimeNs ? known.object : undefined;
  }

  /** Whether a tree is in the repository. */
  hasTree(id: string): boolean {
    return this.#trees.has(id);
  }

  /** Records a stored file. */
  add(path: BytePath, object: string, size: number, stat: StatFacts): void {
    const isRacy = stat.ctimeNs + RACY_NS > this.#startNs || stat.mtimeNs + RACY_NS > this.#startNs;
    if (!isRacy) this.#files.set(path, { object, size, stat });
  }

  /** Records a tree that is in the repository. */
  addTree(id: string): void {
    this.#trees.add(id);
  }

  /** Writes the cache for the next walk. A failure is ignored: files are then read again. */
  save(file: string, commit: string): void {
    const rows = [...this.#files].map(([path, { object, size, stat }]): Row => {
      return [path, object, size, String(stat.ino), String(stat.mtimeNs), String(stat.ctimeNs)];
    });
    const content: CacheFile = { version: VERSION, commit, trees: [...this.#trees], rows };
    try {
      writePrivateFile(file, JSON.stringify(content), false);
    } catch {
      // ENOSPC, for example.
    }
  }
}

/** Whether a file is the same one, and has not been written to since. */
export const isSameFile = (a: StatFacts, b: StatFacts): boolean => a.ino === b.ino && a.mtimeNs === b.mtimeNs;

function readCache(file: string): CacheFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CacheFile;
  } catch {
    // Missing, or incomplete.
    return undefined;
  }
}
