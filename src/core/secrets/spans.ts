/** A range of a text or of bytes, its end not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A searchable sequence: a text, or bytes for bytes. */
interface Searchable<P> {
  indexOf(pattern: P, from?: number): number;
}

/**
 * Ranges of secrets, in order. Overlapping ones are merged, so that no part of either is left.
 * @param patterns none may be empty
 * @param known ranges already known to be secret
 */
export function findSecrets<P extends string | Uint8Array>(
  data: Searchable<P>,
  patterns: readonly P[],
  known: readonly Span[] = [],
): readonly Span[] {
  const found = [...known];
  for (const pattern of patterns) {
    for (let start = data.indexOf(pattern); start !== -1; start = data.indexOf(pattern, start + 1)) {
      found.push({ start, end: start + pattern.length });
    }
  }
  if (found.length < 2) return found;
  found.sort((a, b) => a.start - b.start);
  const merged: Span[] = [];
  for (const span of found) {
    const last = merged.at(-1);
    if (last && span.start < last.end) merged.splice(-1, 1, { start: last.start, end: Math.max(last.end, span.end) });
    else merged.push(span);
  }
  return merged;
}
