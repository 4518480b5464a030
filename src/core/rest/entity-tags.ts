const TAG = /(W\/)?"([^"]*)"/g;

/**
 * The strong entity tags of a header `If-Match` or `If-None-Match`, without their quotes; `any` for `*`. A weak tag is
 * equal to none, because the daemon's are strong. Source: RFC 9110, section 8.8.3.
 */
export function strongTags(header: string): readonly string[] | 'any' {
  if (header.trim() === '*') return 'any';
  return [...header.matchAll(TAG)].flatMap(([, weak, tag]) => (weak === undefined && tag !== undefined ? [tag] : []));
}

/** Whether a header names the tag; weak ones count for `If-None-Match`. */
export const namesTag = (header: string, tag: string): boolean =>
  header.trim() === '*' || [...header.matchAll(TAG)].some(([, , each]) => each === tag);
