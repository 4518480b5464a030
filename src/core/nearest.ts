/** Longest edit distance of a suggestion, relative to the written text: a larger one indicates another word. */
const MAX_RELATIVE_DISTANCE = 1 / 3;

/** Shortest abbreviation, in letters. */
const MIN_PREFIX_LETTERS = 3;

/**
 * Returns the candidate that `written` most likely means, or undefined when none is close: the only one with that
 * prefix, else the one with the smallest edit distance. Letter case and the choice of `-`, `_` or nothing between words
 * are ignored.
 */
export function findNearest(written: string, candidates: Iterable<string>): string | undefined {
  const wanted = simplify(written);
  const names = [...candidates];
  const longer = names.filter((candidate) => simplify(candidate).startsWith(wanted));
  if (wanted.length >= MIN_PREFIX_LETTERS && longer.length === 1) return longer[0];
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length * MAX_RELATIVE_DISTANCE)) + 1;
  for (const candidate of names) {
    const distance = editDistance(wanted, simplify(candidate));
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/**
 * Edit distance with swaps (optimal string alignment): the number of letters to insert, remove, replace, or swap with
 * their neighbour to get from `a` to `b`.
 */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(beforePrevious, j - 2) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, at(previous, j) + 1, at(row, j - 1) + 1));
    }
    beforePrevious = previous;
    previous = row;
  }
  return at(previous, b.length);
}

/** The rows above are complete: only the type requires the fallback. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
