import type { RequestName } from '../protocol/requests.js';
import { nodeOf } from './node-id.js';
import { ROUTES } from './routes.js';

/** Where a request is answered, as far as its own fields say it. */
export type Address =
  | { readonly to: 'here' | 'place' | 'all' | 'only_worker' | 'machine' }
  /** The node of an id: `name-incarnation`, or a name alone. */
  | { readonly to: 'node'; readonly node: string; readonly sessionId?: string }
  /** The node that the request itself names. */
  | { readonly to: 'named'; readonly name: string }
  /** The node that knows an object whose id names none. */
  | { readonly to: 'owner'; readonly id: string };

type Fields = Readonly<Record<string, unknown>>;

const textIn = (fields: Fields, name: string): string | undefined => {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
};

/**
 * Where a request is answered.
 * @param request after parsing
 */
export function addressOf(name: RequestName, request: object): Address {
  const fields = request as Fields;
  const { route } = ROUTES[name];
  if (route.by === 'here') return { to: 'here' };
  const sessionId = textIn(fields, 'session_id');
  // An audit record is searched by the id of a session, which says nothing about where it is.
  if (sessionId !== undefined && route.by !== 'machine') return ofSession(sessionId);
  const named = textIn(fields, 'node');
  if (named !== undefined) return { to: 'named', name: named };
  switch (route.by) {
    case 'object': {
      const id = textIn(fields, route.field);
      return id === undefined ? { to: 'only_worker' } : ofObject(id);
    }
    case 'gather':
      return { to: 'all' };
    case 'machine':
    case 'place':
      return { to: route.by };
    default:
      return { to: 'only_worker' };
  }
}

/** A session without a node in its id is one of this daemon, or of none. */
function ofSession(sessionId: string): Address {
  const node = nodeOf(sessionId);
  return node === undefined ? { to: 'here' } : { to: 'node', node, sessionId };
}

function ofObject(id: string): Address {
  const node = nodeOf(id);
  return node === undefined ? { to: 'owner', id } : { to: 'node', node };
}
