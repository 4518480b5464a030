/** Unchanged lines around a change. */
const CONTEXT_LINES = 3;

/** One replacement: line numbers from 0, the end exclusive, and the lines that come instead. */
interface Change {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** A diff, and whether it is complete. */
interface BoundedDiff {
  readonly diff: string;
  readonly isTruncated: boolean;
}

/**
 * Renders replacements of one text as a unified diff.
 * @param positions of the replaced texts in the old content, in UTF-16 units, ascending and without overlap
 * @param maxCharacters a longer diff is cut after a line
 */
export function unifiedDiff(replacement: Replacement, maxCharacters: number): BoundedDiff {
  const { path, content } = replacement;
  const lines = content.split('\n');
  const output = [`--- ${path}`, `+++ ${path}`];
  let delta = 0;
  let length = output.join('\n').length;
  for (const hunk of hunksOf(changesOf(lines, replacement), lines.length)) {
    const rendered = renderHunk(hunk, lines, delta);
    delta += rendered.delta;
    for (const line of rendered.lines) {
      length += line.length + 1;
      if (length > maxCharacters) return { diff: `${output.join('\n')}\n`, isTruncated: true };
      output.push(line);
    }
  }
  return { diff: `${output.join('\n')}\n`, isTruncated: false };
}

/** Replacements of one text in another. */
interface Replacement {
  /** Name of the file, as in the request. */
  readonly path: string;
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  readonly positions: readonly number[];
}

/** The changed lines: replacements on the same line are one change. */
function changesOf(lines: readonly string[], { content, oldText, newText, positions }: Replacement): readonly Change[] {
  const starts = lineStarts(lines);
  const changes: Change[] = [];
  let open: { from: number; to: number; text: string; end: number } | undefined;
  const close = () => {
    if (!open) return;
    const rest = content.slice(open.end, endOfLine(starts, open.to - 1, content.length));
    changes.push(withoutSameLines({ ...open, lines: `${open.text}${rest}`.split('\n') }, lines));
  };
  for (const position of positions) {
    const end = position + oldText.length;
    const from = lineAt(starts, position);
    const to = lineAt(starts, end) + 1;
    if (open && from < open.to) {
      open = { ...open, to, text: `${open.text}${content.slice(open.end, position)}${newText}`, end };
      continue;
    }
    close();
    open = { from, to, text: `${content.slice(starts[from], position)}${newText}`, end };
  }
  close();
  return changes;
}

/** Leaves out the first and last lines of a change that stay as they are. */
function withoutSameLines({ from, to, lines: came }: Change, lines: readonly string[]): Change {
  let first = 0;
  const least = Math.min(came.length, to - from);
  while (first < least && came[first] === lines[from + first]) first += 1;
  let last = 0;
  while (last < least - first && came[came.length - 1 - last] === lines[to - 1 - last]) last += 1;
  return { from: from + first, to: to - last, lines: came.slice(first, came.length - last) };
}

function lineStarts(lines: readonly string[]): readonly number[] {
  let at = 0;
  return lines.map((line) => {
    const start = at;
    at += line.length + 1;
    return start;
  });
}

/** Number of the line that has a position, by bisection. */
function lineAt(starts: readonly number[], position: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

const endOfLine = (starts: readonly number[], line: number, length: number): number =>
  line + 1 < starts.length ? (starts[line + 1] ?? length) - 1 : length;

/** Changes that share context lines. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly Change[];
}

function hunksOf(changes: readonly Change[], lineCount: number): readonly Hunk[] {
  const hunks: Hunk[] = [];
  for (const change of changes) {
    const from = Math.max(0, change.from - CONTEXT_LINES);
    const to = Math.min(lineCount, change.to + CONTEXT_LINES);
    const last = hunks.at(-1);
    if (last && from <= last.to) hunks.splice(-1, 1, { from: last.from, to, changes: [...last.changes, change] });
    else hunks.push({ from, to, changes: [change] });
  }
  return hunks;
}

function renderHunk({ from, to, changes }: Hunk, lines: readonly string[], delta: number) {
  // The text after the last line end is no line.
  const lineCount = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  const body: string[] = [];
  let at = from;
  let added = 0;
  for (const change of changes) {
    const { removed, came } = shownLines(change, lines, lineCount);
    body.push(...lines.slice(at, change.from).map((line) => ` ${line}`));
    body.push(...removed.map((line) => `-${line}`), ...came.map((line) => `+${line}`));
    added += came.length - removed.length;
    at = change.to;
  }
  const end = Math.min(to, lineCount);
  body.push(...lines.slice(at, end).map((line) => ` ${line}`));
  const count = end - from;
  return {
    lines: [`@@ -${from + 1},${count} +${from + delta + 1},${count + added} @@`, ...body],
    delta: added,
  };
}

/** The lines of a change, without what follows the last line end. */
function shownLines({ from, to, lines: came }: Change, lines: readonly string[], lineCount: number) {
  const removed = lines.slice(from, Math.min(to, lineCount));
  const isAtEnd = to > lineCount && came.at(-1) === '';
  return { removed, came: isAtEnd ? came.slice(0, -1) : came };
}
