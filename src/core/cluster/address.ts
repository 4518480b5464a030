import { AdapterError } from '../errors.js';
import { ID_BYTES } from '../ids.js';
import type { RequestName } from '../protocol/requests.js';
import { REQUEST_FACTS } from '../protocol/request-facts.js';

/** Characters of an incarnation: enough that two runs of a node never have the same one. */
const INCARNATION_CHARACTERS = 7;
const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A node: `name`, or `name-incarnation` for one run of its daemon. */
const NODE = '[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?';
const ID_WITH_NODE = new RegExp(`^[a-z]+_(${NODE})\\.[A-Za-z0-9_-]{${Math.ceil((ID_BYTES * 8) / 6)}}$`);

/**
 * Names one run of a node's daemon, from random bytes: 7 lower-case letters or digits.
 * @param random at least 7 bytes of a cryptographic source
 */
export function incarnationFrom(random: Uint8Array): string {
  if (random.length < INCARNATION_CHARACTERS) throw new AdapterError('INTERNAL', 'an incarnation needs 7 random bytes');
  return Array.from(random.subarray(0, INCARNATION_CHARACTERS), (byte) => DIGITS[byte % DIGITS.length]).join('');
}

/** One run of a node, as ids name it: `name-incarnation`. */
export const nodeIdFrom = (name: string, incarnation: string): string => `${name}-${incarnation}`;

/** The name of a node, from the id of one of its runs. */
export const nameOfNode = (nodeId: string): string => nodeId.slice(0, -1 - INCARNATION_CHARACTERS);

/** The name of the node that an id of one of its runs names; undefined for ids without a node. */
export function nodeNameIn(id: string): string | undefined {
  const node = nodeOf(id);
  return node === undefined ? undefined : nameOfNode(node);
}

/**
 * The node that an id names: `name-incarnation`, or a name alone in ids of what outlives a daemon. Undefined for ids
 * without a node, such as those that clients choose.
 */
export const nodeOf = (id: string): string | undefined => ID_WITH_NODE.exec(id)?.[1];

/** Where a request is answered, as far as its own fields say it. */
type Address =
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
  const { route } = REQUEST_FACTS[name];
  if (route === 'here') return { to: 'here' };
  const sessionId = textIn(fields, 'session_id');
  // An audit record is searched by the id of a session, which says nothing about where it is.
  if (sessionId !== undefined && route !== 'machine') return ofSession(sessionId);
  const named = textIn(fields, 'node');
  if (named !== undefined) return { to: 'named', name: named };
  if (typeof route === 'object') {
    const id = textIn(fields, route.object);
    return id === undefined ? { to: 'only_worker' } : ofObject(id);
  }
  switch (route) {
    case 'gather':
      return { to: 'all' };
    case 'machine':
    case 'place':
      return { to: route };
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
