/** Content codings that a browser may accept, from the smallest answer to the largest. */
const CODINGS = ['br', 'gzip', 'identity'] as const;

/** Coding of an answer; `identity` is none. Source: RFC 9110, 8.4.1. */
export type Coding = (typeof CODINGS)[number];

/**
 * Chooses the smallest of the available codings that an `Accept-Encoding` header allows. Falls back to `identity`, as
 * RFC 9110, 12.5.3 permits when nothing acceptable is there.
 * @param header undefined when the request has none
 */
export function chooseCoding(header: string | undefined, available: ReadonlySet<Coding>): Coding {
  const accepted = parseAccepted(header ?? '');
  const isAccepted = (coding: Coding) => accepted.get(coding) ?? (coding === 'identity' || accepted.get('*') === true);
  return CODINGS.find((coding) => available.has(coding) && isAccepted(coding)) ?? 'identity';
}

/** Returns which codings a header names, and whether it accepts each: a weight of 0 refuses one. */
function parseAccepted(header: string): ReadonlyMap<string, boolean> {
  const entries = header.split(',').map((part): readonly [name: string, isAccepted: boolean] => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return [name === 'x-gzip' ? 'gzip' : name, !parameters.some((text) => /^q=0(?:\.0*)?$/.test(text))];
  });
  return new Map(entries);
}
