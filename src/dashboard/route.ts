/** A place in the dashboard: what the fragment of the address says. */
export interface Route {
  /** Name of the page. */
  readonly page: string;
  /** The further segments of the path, decoded. */
  readonly segments: readonly string[];
  /** Filters and the like. */
  readonly query: Readonly<Record<string, string>>;
}

/** The page without a fragment. */
const FIRST_PAGE = 'overview';

/** Parses the fragment of an address, such as `#/sessions/ID?view=timeline`. Anything else is the first page. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [page = FIRST_PAGE, ...segments] = path.split('/').filter(Boolean).map(decodeSegment);
  return { page, segments, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** Formats the address of a place. Empty filters are left out. */
export function hrefOf(page: string, segments: readonly string[] = [], query: Route['query'] = {}): string {
  const path = [page, ...segments].map(encodeURIComponent).join('/');
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `#/${path}${search === '' ? '' : `?${search}`}`;
}

/** Decodes a part of an address; a text with a lone % is returned unchanged. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
