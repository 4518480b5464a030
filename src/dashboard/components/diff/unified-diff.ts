/** A line of a unified diff. */
export interface DiffLine {
  /** `note` is what is none of the text: names, modes, or the marker of lines that were left out. */
  readonly kind: 'file' | 'hunk' | 'added' | 'removed' | 'context' | 'note';
  readonly text: string;
  /** Number of the line before the change, and after it; null where there is none, or where it is not known. */
  readonly before: number | null;
  readonly after: number | null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Lines before the first hunk of a file that say nothing more than its first line. */
const REPEATED = /^(?:index |--- |\+\+\+ )/;

/** Where the lines of a hunk are, and how many are to come. */
interface Place {
  before: number;
  after: number;
  beforeLeft: number;
  afterLeft: number;
  /** Whether the line is between the name of a file and its first hunk. */
  isBeforeHunks: boolean;
}

const NOWHERE: Readonly<Place> = { before: 0, after: 0, beforeLeft: 0, afterLeft: 0, isBeforeHunks: false };

/**
 * Parses a unified diff as git prints it. The counts of a hunk say where it ends: a removed line such as `-- x` is no
 * name of a file. A diff may lack lines in its middle; what follows then has no numbers until the next hunk.
 */
export function parseDiff(patch: string): readonly DiffLine[] {
  const place = { ...NOWHERE };
  const lines = patch.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.flatMap((line) => (place.isBeforeHunks && REPEATED.test(line) ? [] : [parseLine(line, place)]));
}

function parseLine(line: string, place: Place): DiffLine {
  const [found, before, beforeCount = '1', after, afterCount = '1'] = HUNK.exec(line) ?? [];
  if (found !== undefined) {
    Object.assign(place, { before: Number(before), after: Number(after), isBeforeHunks: false });
    Object.assign(place, { beforeLeft: Number(beforeCount), afterLeft: Number(afterCount) });
    return outside('hunk', line);
  }
  if (line.startsWith('diff --git ')) {
    Object.assign(place, NOWHERE, { isBeforeHunks: true });
    return outside('file', nameOf(line.slice('diff --git '.length)));
  }
  if (place.beforeLeft + place.afterLeft > 0) return inside(line, place);
  return outside('note', line);
}

/** The name of a file that has the same one before and after; both otherwise. */
function nameOf(names: string): string {
  const middle = (names.length - 1) / 2;
  const [before, after] = [names.slice('a/'.length, middle), names.slice(middle + 1 + 'b/'.length)];
  return before === after ? before : names;
}

const outside = (kind: 'file' | 'hunk' | 'note', text: string): DiffLine => ({ kind, text, before: null, after: null });

function inside(line: string, place: Place): DiffLine {
  const text = line.slice(1);
  if (line.startsWith('+')) {
    place.afterLeft -= 1;
    return { kind: 'added', text, before: null, after: place.after++ };
  }
  if (line.startsWith('-')) {
    place.beforeLeft -= 1;
    return { kind: 'removed', text, before: place.before++, after: null };
  }
  // A context line that is empty may lack its space.
  if (line.startsWith(' ') || line === '') {
    place.beforeLeft -= 1;
    place.afterLeft -= 1;
    return { kind: 'context', text, before: place.before++, after: place.after++ };
  }
  // `\ No newline at end of file` belongs to the hunk; anything else was not written by git.
  if (!line.startsWith('\\')) Object.assign(place, NOWHERE);
  return outside('note', line);
}
