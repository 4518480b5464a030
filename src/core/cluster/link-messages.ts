import { z } from 'zod';

import { NODE_NAME } from '../ids.js';
import { type ForwardedHeaders, type Headers, HOP_BY_HOP, keep, namedBy } from '../previews.js';
import { canGrant, type Principal, type Role, ROLE_NAMES } from '../principal.js';

/** Version of the messages between nodes. Daemons with another one are refused; within one, releases mix. */
export const LINK_VERSION = 1;

/** Least and most random bytes of a nonce, in base64url. */
const nonce = z.string().regex(/^[\w-]{22,64}$/);
/** HMAC-SHA-256 in hexadecimal digits. */
const proof = z.string().regex(/^[0-9a-f]{64}$/);
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
const text = z.string().min(1).max(256);

/** What the dialled node sends first: what the proof of the other side has to cover, so that none can be replayed. */
export const challenge = z.object({ link_version: z.int(), nonce });

const identity = {
  node: z.string().regex(NODE_NAME),
  incarnation: z.string().regex(/^[a-z0-9]{7}$/),
  version: text,
  link_version: z.int(),
  instance_id: text,
};

export const hello = z.object({ ...identity, nonce, proof });

/** What a node carries, and how much it may. */
export const load = z.object({
  sessions: z.int().min(0),
  one_shots: z.int().min(0),
  capacity: z.int().min(0),
  is_draining: z.boolean(),
  /** Running commands, with and without a session; an earlier release does not say. */
  commands_running: z.int().min(0).optional(),
});

/** What the dialled node replies to a `hello` that it accepts. */
export const welcome = z.object({ ...identity, proof, load, labels: z.record(z.string(), z.string()) });

export const refusal = z.object({ refused: text });

const relayedPrincipal = z.object({
  id: text.refine((id) => id !== LOCAL_ID, 'belongs to the programs of this machine'),
  name: text,
  role: z.enum(ROLE_NAMES),
  run_as: z.string().optional(),
  is_local_peer: z.boolean(),
  expires_at: z.string().optional(),
  page_id: z.string().optional(),
});

/** Announces a client whose events come over the link. `takes_text`: the other node may send output as `text` of an event. */
export const clientMessage = z.object({
  client: text,
  principal: relayedPrincipal,
  from: z.string().optional(),
  takes_text: z.boolean().optional(),
});

/** Ends what belongs to a client that has gone. */
export const goneMessage = z.object({ client: text });

/** The trace that a request belongs to. What cannot be read is left out: a request does not fail for it. */
const trace = z.object({
  traceparent: z.string().max(64).optional().catch(undefined),
  tracestate: z.string().max(512).optional().catch(undefined),
});

/** A request of a client that was announced, or of one without events. */
export const requestMessage = z.object({
  client: text.optional(),
  caller: clientMessage.omit({ client: true }).optional(),
  name: text,
  /** Undefined for a request without one: JSON leaves it out. */
  payload: z.unknown().optional(),
  trace: trace.optional().catch(undefined),
  /** Id that was reserved for the session that the request opens. */
  reserved: text.optional(),
});

/** Asks for a ticket with which one request of a client is made over HTTP, on the same port. */
export const ticketMessage = z.object({ caller: clientMessage.omit({ client: true }), is_encrypted: z.boolean() });

export const ticketReply = z.object({ ticket: nonce });

/** An event for a client. `bytes` is what it takes of the window. `text` is the `data` of the payload, in UTF-8. */
export const eventMessage = z
  .object({
    client: text,
    name: text,
    payload: z.unknown(),
    bytes: z.int().min(0),
    text: z.instanceof(Uint8Array).optional(),
  })
  .transform(({ text: data, ...event }) =>
    data ? { ...event, payload: { ...(event.payload as object), data: UTF8.decode(data) } } : event,
  );

export const creditMessage = z.object({ client: text, bytes: z.int().min(0) });

/** The access of a principal has ended: what waits in its name counts no longer. */
export const endedMessage = z.object({ principal: text });

export const drainMessage = z.object({ drain: z.boolean() });

/** A message that says nothing but its name. */
export const emptyMessage = z.object({});

/** What the dialled node replies to `held`: the sessions that it has open; those without an owner are not limited. */
export const heldMessage = z.array(
  z.object({ id: text, owner: text.optional() }).transform(({ id, owner }) => ({ id, owner })),
);

export type RelayedClient = Omit<z.output<typeof clientMessage>, 'client'>;

export type LinkIdentity = Pick<z.output<typeof welcome>, keyof typeof identity>;

export type NodeLoad = z.output<typeof load>;

/** Prefix of the ids of clients that connect to a node without a token: elsewhere they are those of that node. */
const LOCAL_OF = 'local.';
/** Id of these clients at their own node. */
const LOCAL_ID = 'local';

/** The id under which other nodes know a principal of a node. */
export const idElsewhere = (id: string, node: string): string => (id === LOCAL_ID ? LOCAL_OF + node : id);

/** A principal as other nodes see it: a program that needs no token here is `local.NODE` there. */
export function announced({ id, name, role, runAs, isLocalPeer, expiresAt, pageId }: Principal, node: string) {
  const isLocal = isLocalPeer && id === LOCAL_ID;
  return {
    id: isLocal ? idElsewhere(id, node) : id,
    name: isLocal ? idElsewhere(id, node) : name,
    role,
    ...(runAs !== undefined && { run_as: runAs }),
    is_local_peer: isLocalPeer,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(pageId !== undefined && { page_id: pageId }),
  };
}

/** The node that answers a client of another one. */
interface AcceptingNode {
  /** Name of the other one. */
  readonly node: string;
  readonly localRole: Role;
  /**
   * Whether the other one is the daemon whose sessions this process holds: then its local programs are those of this process.
   * @default false
   */
  readonly isOwnDaemon?: boolean;
}

/**
 * An announced principal, on the node that answers it. A program that needs no token at the other node has at most the
 * role that the configuration of this node gives to such programs.
 */
export function accepted(
  { id, name, role, run_as: runAs, is_local_peer: isLocalPeer, expires_at: expiresAt }: RelayedClient['principal'],
  { node, localRole, isOwnDaemon = false }: AcceptingNode,
): Principal {
  const own = isLocalPeer
    ? { ...localOf(isOwnDaemon ? undefined : node), role: canGrant(localRole, role) ? role : localRole }
    : { id, name, role };
  return { ...own, runAs, isLocalPeer, expiresAt, via: node };
}

/** Who the programs are that need no token at a node; without one, at this daemon. */
function localOf(node: string | undefined): Pick<Principal, 'id' | 'name'> {
  const name = node === undefined ? LOCAL_ID : LOCAL_OF + node;
  return { id: name, name };
}

/** Names, on the port for nodes, for which client a request is made: what a worker has given to the gateway. */
export const TICKET_HEADER = 'x-shell-adapter-ticket';

/** Headers that a gateway has dealt with: tokens of its clients do not leave it, and it has answered `Expect`. */
const OF_THE_GATEWAY = ['authorization', 'x-api-key', 'expect', TICKET_HEADER];

const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket' };

/** The headers with which a request of a client goes on to its worker. A body keeps the framing that it came with. */
export function passedRequestHeaders(headers: Headers, isUpgrade = false): ForwardedHeaders {
  const { trailer, 'transfer-encoding': framing } = headers;
  return {
    ...withoutHops(headers, OF_THE_GATEWAY),
    ...(framing !== undefined && !isUpgrade && { 'transfer-encoding': 'chunked' }),
    ...(typeof trailer === 'string' && framing !== undefined && { trailer }),
    ...(isUpgrade && UPGRADE),
  };
}

/** The headers with which the answer of a worker goes to the client. */
export const passedAnswerHeaders = (headers: Headers, isUpgrade = false): ForwardedHeaders => ({
  ...withoutHops(headers, []),
  ...(isUpgrade && UPGRADE),
});

function withoutHops(headers: Headers, others: readonly string[]): ForwardedHeaders {
  const dropped = new Set([...HOP_BY_HOP, ...namedBy(headers), ...others]);
  return keep(headers, (name) => !dropped.has(name));
}
