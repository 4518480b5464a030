/** Headers, with names in lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers that are passed on. */
export type ForwardedHeaders = Record<string, string | string[]>;

/** Headers of one connection. Source: RFC 9110, section 7.6.1. */
export const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Headers that belong to the connection because `Connection` names them. */
export const namedBy = ({ connection }: Headers): string[] =>
  [connection ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((name) => name.trim().toLowerCase());

/** Some of the headers. */
export function keep(headers: Headers, isKept: (name: string) => boolean): ForwardedHeaders {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && isKept(name));
  return Object.fromEntries(kept) as ForwardedHeaders;
}
