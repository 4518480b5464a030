import { isAscii, isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';

import type { BytePath } from '../../../core/checkpoints.js';
import { type OutputLimits, OutputWindow, type RenderOptions } from '../../../core/output/output-window.js';
import { type Git, toBytes } from './git.js';

/** Two commits, and the paths to compare. */
export interface DiffOptions {
  readonly before: string;
  readonly after: string;
  /** An empty path means everything. */
  readonly paths: readonly BytePath[];
}

/** Added and deleted lines of a file; null for a file that is not text. */
export interface LineCounts {
  readonly insertions: number | null;
  readonly deletions: number | null;
}

/** A patch for a client. Sizes in characters (code points). */
export interface Patch {
  readonly text: string;
  readonly isTruncated: boolean;
  readonly isLossy: boolean;
  readonly characters: number;
  /** Undefined without limits on lines. */
  readonly lines: number | undefined;
}

/** Options of all comparisons: no external programs, and a moved file counts as deleted and added. */
const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-renames', '--no-color', '--ignore-submodules=none'] as const;

/** Counts lines by file. */
export async function countLines(git: Git, options: DiffOptions): Promise<ReadonlyMap<BytePath, LineCounts>> {
  const output = await git.run(['diff-tree', '-r', '--numstat', '-z', ...PLAIN, ...treesOf(options)]);
  const rows = output.toString('latin1').split('\0').filter(Boolean);
  return new Map(
    rows.map((row) => {
      const [insertions, deletions, ...path] = row.split('\t');
      return [path.join('\t'), { insertions: toCount(insertions), deletions: toCount(deletions) }];
    }),
  );
}

const toCount = (text = '-'): number | null => (text === '-' ? null : Number(text));

/** Creates the patch between two commits, in constant memory regardless of its length. */
export async function makePatch(
  git: Git,
  options: DiffOptions,
  limits: OutputLimits,
  render: RenderOptions,
): Promise<Patch> {
  const window = new OutputWindow(limits, { isAscii, isUtf8 });
  const process = git.start(['diff-tree', '-r', '-p', ...PLAIN, ...treesOf(options)], { output: 'pipe' });
  process.stdin.end();
  for await (const chunk of process.stdout as Readable as AsyncIterable<Buffer>) window.push(chunk);
  await process.check();
  const { text, truncated } = window.render(render);
  return { text, isTruncated: truncated, isLossy: window.lossy, characters: window.characters, lines: window.lines };
}

function treesOf({ before, after, paths }: DiffOptions): string[] {
  const wanted = paths.includes('') ? [] : ['--', ...paths.map((path) => toBytes(path).toString('utf8'))];
  return [`${before}:files`, `${after}:files`, ...wanted];
}
