import { isAscii, isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';

import type { BytePath } from '../../../core/checkpoints/entry.js';
import { type OutputLimits, OutputWindow, type RenderOptions } from '../../../core/output/output-window.js';
import { toBytes } from './byte-path.js';
import type { Git } from './git.js';

/** Two commits, and what of them is compared. */
export interface DiffOptions {
  readonly before: string;
  readonly after: string;
  /** An empty path is everything. */
  readonly paths: readonly BytePath[];
}

/** Lines that came and went in a file; null for one that is not text. */
export interface LineCounts {
  readonly insertions: number | null;
  readonly deletions: number | null;
}

/** A patch as a client gets it. Sizes in characters (code points). */
export interface Patch {
  readonly text: string;
  readonly isTruncated: boolean;
  readonly isLossy: boolean;
  readonly characters: number;
}

/** What is the same for all comparisons: nothing is run for them, and a moved file is one that went and one that came. */
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

/** Makes the patch that leads from one commit to the other, in constant memory however long it is. */
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
  return { text, isTruncated: truncated, isLossy: window.lossy, characters: window.characters };
}

function treesOf({ before, after, paths }: DiffOptions): string[] {
  const wanted = paths.includes('') ? [] : ['--', ...paths.map((path) => toBytes(path).toString('utf8'))];
  return [`${before}:files`, `${after}:files`, ...wanted];
}
