/** A range of bytes. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

const ONE_RANGE = /^bytes=\s*(\d*)-(\d*)\s*$/i;

/**
 * Reads a header `Range` for a file of a size in bytes. Source: RFC 9110, section 14.
 * @returns undefined for one that is ignored: of several ranges, of another unit, or malformed
 */
export function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = ONE_RANGE.exec(header) ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return lastBytes(Number(last), size);
  const offset = Number(first);
  const end = last === '' ? Infinity : Number(last) + 1;
  if (end <= offset) return undefined;
  return offset >= size ? 'unsatisfiable' : { offset, length: Math.min(end, size) - offset };
}

function lastBytes(count: number, size: number): ByteRange | 'unsatisfiable' {
  if (count === 0 || size === 0) return 'unsatisfiable';
  const length = Math.min(count, size);
  return { offset: size - length, length };
}

/** Where a part of an upload belongs. */
export interface ContentRange extends ByteRange {
  /** Undefined when the client does not know it. */
  readonly total: number | undefined;
}

const CONTENT_RANGE = /^bytes\s+(\d+)-(\d+)\/(\d+|\*)$/i;

/** Reads a header `Content-Range`; undefined for one that is malformed. */
export function parseContentRange(header: string): ContentRange | undefined {
  const found = CONTENT_RANGE.exec(header.trim());
  if (!found) return undefined;
  const [first, last, total] = found.slice(1).map(Number) as [number, number, number];
  if (last < first || last >= total) return undefined;
  return { offset: first, length: last - first + 1, total: Number.isNaN(total) ? undefined : total };
}
