/** Address of a request to a port of a session, taken apart. */
export interface PreviewUrl {
  readonly sessionId: string;
  /** As it was given: it need not be a number. */
  readonly port: string;
  /** Path of everything on the port, without a slash at its end. */
  readonly prefix: string;
  /** Path and query as the program on the port gets them. */
  readonly path: string;
}

const URL_PATTERN = /^(\/v1\/sessions\/([^/?#]+)\/ports\/([^/?#]+))(\/[^?#]*)?(\?[^#]*)?$/;

/** Takes the path and query of a request apart; undefined for another path. */
export function parsePreviewUrl(url: string): PreviewUrl | undefined {
  const [, prefix, sessionId, port, path = '/', query = ''] = URL_PATTERN.exec(url) ?? [];
  if (prefix === undefined || sessionId === undefined || port === undefined) return undefined;
  return { sessionId, port, prefix, path: `${path}${query}` };
}

/** Path under which a port of a session is served, with a slash at its end. */
export const previewPathOf = (sessionId: string, port: number): string => `/v1/sessions/${sessionId}/ports/${port}/`;
