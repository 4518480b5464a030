import { BoundedMap } from '../../core/bounded-map.js';
import { FailedAttempts, peerKey } from '../../core/rate-limits.js';
import { LOCAL_ID, LOCAL_PRINCIPAL, type Principal, type Role } from '../../core/principal.js';
import { readLife, type Token } from '../../core/token.js';
import { AdapterError } from '../../core/errors.js';
import { requestsFor } from '../../core/protocol/permissions.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { TokenInfo } from '../../core/protocol/requests/tokens.js';
import { type Peer, PeerSockets, PidNamespaceSockets } from '../../engine/platform/peer.js';
import type { PeerLook, PeerSocket } from '../../engine/platform/platform.js';
import type { Caller } from '../registry/caller.js';
import type { DashboardLinks, PageSignIn, PageTokens } from './dashboard-links.js';
import type { Refusals } from './admission.js';
import type { TokenFiles } from './token-files.js';
import type { TokenStore } from './token-store.js';

/** The other end of a connection, as far as the kernel knows it. */
export interface KnownPeer {
  /** Names the peer for counters; see `peerKey`. */
  readonly key: string;
  /** Whether a process of the daemon's own user has made the connection. It may be in a sandbox. */
  readonly isOwnUser: boolean;
  /** Whether the connection is one over the Unix socket. */
  readonly isUnix: boolean;
  /** The peer's socket; undefined for a Unix socket, and where the kernel does not tell. */
  readonly socket: PeerSocket | undefined;
}

const UNIX_PEER: KnownPeer = { key: 'unix', isOwnUser: true, isUnix: true, socket: undefined };
/** The peer of a connection that was closed before it could be identified. */
const GONE_PEER: KnownPeer = { key: 'gone', isOwnUser: false, isUnix: false, socket: undefined };

export class Peers {
  readonly #sockets: PeerSockets;
  /**
   * Peers of open connections. Neither owner nor inode of a connection's socket changes. The process that holds it can
   * change.
   */
  readonly #known = new WeakMap<Peer, KnownPeer>();

  constructor(look: PeerLook) {
    this.#sockets = new PeerSockets(look);
  }

  /**
   * Notes a connection over the Unix socket: the mode of its directory denies access to all other users but root, and
   * no sandbox contains that directory.
   */
  noteUnixPeer(peer: Peer): void {
    this.#known.set(peer, UNIX_PEER);
  }

  async identify(peer: Peer): Promise<KnownPeer> {
    const known = this.#known.get(peer);
    if (known) return known;
    const { remoteAddress: address } = peer;
    if (address === undefined) return GONE_PEER;
    const socket = await this.#sockets.find(peer);
    const isOwnUser = socket !== undefined && socket.owner === process.getuid?.();
    const found = { key: peerKey({ address, owner: socket?.owner }), isOwnUser, isUnix: false, socket };
    if (socket) this.#known.set(peer, found);
    return found;
  }
}

/**
 * Which connections need a token: with `auto`, programs of the daemon's own user connect without one; with `token`,
 * every connection needs one; with `none`, every connection that reaches the port is accepted.
 */
type AuthMode = 'auto' | 'token' | 'none';

/** The origin of a request, for authentication. */
export interface Origin {
  /** Names the peer, to count its mistakes and connections; see `peerKey`. */
  readonly peer: string;
  /** Why a token is needed, as a clause; undefined for a program of the daemon's own user. */
  readonly whyForeign: string | undefined;
}

/** Facts about a connection for its authentication. */
interface Credentials {
  /** As received over the wire: any value, or undefined. */
  readonly token: unknown;
  readonly origin: Origin;
  readonly from: string;
}

export interface Authentication {
  readonly principal: Principal;
  /** Aborted when the authentication ends; the reason is an AdapterError. Undefined for one that never ends. */
  readonly ended: AbortSignal | undefined;
}

/**
 * Called when the access of a principal has ended.
 * @param where whether this node has ended it, or the one whose client it is
 */
type EndListener = (id: string, where: 'here' | 'elsewhere') => void;

/** Principals of other nodes that are remembered. */
const MAX_ENDED_ELSEWHERE = 4096;

/** Authenticates connections, for every transport. */
export class Access {
  readonly #mode: AuthMode;
  readonly #tokens: TokenStore;
  readonly #links: DashboardLinks;
  readonly #pages: PageTokens;
  readonly #peers: Peers;
  readonly #refusals: Refusals;
  /** True when commands may run in a sandbox from which the daemon can be reached. */
  readonly #hasSandboxes: () => boolean;
  readonly #failures = new FailedAttempts();
  readonly #insideSockets = new PidNamespaceSockets();
  readonly #endListeners: EndListener[] = [];
  /** Principals of other nodes whose access has ended there: the last ones, for confirmations that still wait. */
  readonly #endedElsewhere = new BoundedMap<string, true>(MAX_ENDED_ELSEWHERE);

  constructor(
    mode: AuthMode,
    tokens: TokenStore,
    links: DashboardLinks,
    pages: PageTokens,
    peers: Peers,
    refusals: Refusals,
    hasSandboxes: () => boolean,
  ) {
    this.#mode = mode;
    this.#tokens = tokens;
    this.#links = links;
    this.#pages = pages;
    this.#peers = peers;
    this.#refusals = refusals;
    this.#hasSandboxes = hasSandboxes;
  }

  /** True when pages of other origins are accepted, with a token: not where connections need none. */
  get takesPages(): boolean {
    return this.#mode !== 'none';
  }

  /**
   * Finds the origin of a request. Unsandboxed processes of the daemon's own user need no token. A connection whose owner
   * is unknown needs one (fail closed).
   * @param indirectness why the request does not come from the peer itself, as a clause: what a proxy forwards, and
   *   pages, are counted apart from the programs of the same user
   */
  async originOf(peer: Peer, indirectness: string | undefined): Promise<Origin> {
    const known = await this.#peers.identify(peer);
    if (indirectness !== undefined) return { peer: `${known.key}, indirect`, whyForeign: indirectness };
    const { key, isOwnUser, isUnix, socket } = known;
    if (this.#mode === 'none' || (this.#mode === 'auto' && isUnix)) return { peer: key, whyForeign: undefined };
    if (this.#mode === 'token') return { peer: key, whyForeign: 'auth.mode is token' };
    if (!isOwnUser || !socket) return { peer: key, whyForeign: NOT_OWN_USER };
    // The process that holds the socket can change, so it is examined for each request.
    const isInside = () => socket.inode !== undefined && this.#insideSockets.holds(socket.inode);
    const isSandboxed = this.#hasSandboxes() && !(await isInside());
    return isSandboxed
      ? { peer: 'sandbox', whyForeign: 'the connection comes out of a sandbox' }
      : { peer: key, whyForeign: undefined };
  }

  /**
   * Authenticates a connection. A valid token is accepted whatever came before it: a token has 256 random bits, so
   * guesses are counted to bound what they cost and to make them visible.
   * @throws AdapterError UNAUTHORIZED, with the missing part; RATE_LIMITED after too many wrong tokens
   */
  admit(credentials: Credentials): Authentication {
    try {
      return this.#judge(credentials);
    } catch (error) {
      const { origin, from } = credentials;
      if (error instanceof AdapterError) this.#refusals.note(origin.peer, from, error.toBody());
      throw error;
    }
  }

  /**
   * Signs a page in by the code of a link. A wrong code counts as a wrong token does.
   * @throws AdapterError UNAUTHORIZED for a wrong code; RATE_LIMITED after too many; RESOURCE_EXHAUSTED when too many
   *   pages are signed in
   */
  signIn({ token: code, origin: { peer }, from }: Credentials): PageSignIn {
    try {
      const grant = typeof code === 'string' ? this.#links.use(code) : undefined;
      if (!grant) throw this.#wrong(peer, WRONG_CODE);
      return this.#pages.signIn(grant, from);
    } catch (error) {
      if (error instanceof AdapterError) this.#refusals.note(peer, from, error.toBody());
      throw error;
    }
  }

  /** Signs the page with this secret out; returns false when there is none. */
  signOut(secret: string): boolean {
    return this.#pages.signOut(secret);
  }

  /** True when an authenticated principal would still be accepted now. */
  isActive({ id, pageId, via }: Principal): boolean {
    if (via !== undefined) return !this.#endedElsewhere.has(id);
    if (pageId !== undefined) return this.#pages.isActive(pageId);
    return id === LOCAL_ID || this.#tokens.isActive(id);
  }

  /** Calls the listener with the id of each principal whose access ends for good: its token, or its sign-in. */
  onTokenEnd(listener: EndListener): void {
    this.#endListeners.push(listener);
  }

  /** Notes that a token, or a page that is a principal of its own, has ended. */
  noteTokenEnd(id: string): void {
    this.#tellEnd(id, 'here');
  }

  /** Notes that another node has ended the access of a principal, or has accepted it again. */
  noteElsewhere(id: string, isActive: boolean): void {
    if (isActive) {
      this.#endedElsewhere.delete(id);
      return;
    }
    this.#endedElsewhere.set(id, true);
    this.#tellEnd(id, 'elsewhere');
  }

  refresh(): void {
    this.#tokens.refresh();
  }

  #tellEnd(id: string, where: 'here' | 'elsewhere'): void {
    for (const listener of this.#endListeners) listener(id, where);
  }

  #judge({ token, origin: { peer, whyForeign } }: Credentials): Authentication {
    if (token === undefined || token === null || token === '') {
      if (whyForeign === undefined) return { principal: LOCAL_PRINCIPAL, ended: undefined };
      throw new AdapterError('UNAUTHORIZED', noToken(whyForeign));
    }
    const page = typeof token === 'string' ? this.#pages.find(token) : undefined;
    if (page) return page;
    const shown = typeof token === 'string' ? this.#tokens.find(token) : undefined;
    if (!shown) throw this.#wrong(peer, WRONG_TOKEN);
    const { id, name, role, run_as: runAs, expires_at } = shown.token;
    const principal = { id, name, role, runAs, isLocalPeer: false, expiresAt: expires_at ?? undefined };
    return { principal, ended: shown.ended };
  }

  #wrong(peer: string, why: string): AdapterError {
    const now = performance.now();
    const wait = this.#failures.waitOf(peer, now);
    if (wait > 0) {
      const message = `too many wrong tokens have come from this peer; the next is looked at in ${Math.ceil(wait / 1000)} s`;
      return new AdapterError('RATE_LIMITED', message, { details: { retry_after_ms: wait } });
    }
    this.#failures.note(peer, now);
    return new AdapterError('UNAUTHORIZED', why);
  }
}

const NOT_OWN_USER = "the connection is not from a process of the daemon's own user on this machine";
const noToken = (why: string): string => `a token is needed (${why}): \`shell-adapter token create\` makes one`;
const WRONG_CODE = 'the link does not count: it was used, or has expired; `shell-adapter dashboard` makes another';
const WRONG_TOKEN =
  'the token is not known: it is wrong, was revoked, or has expired; `shell-adapter token list` has them';

/** Lists and changes the tokens of a running daemon, for clients. A change takes effect before it is answered. */
export class Tokens {
  readonly #files: TokenFiles;
  readonly #store: TokenStore;

  constructor(files: TokenFiles, store: TokenStore) {
    this.#files = files;
    this.#store = store;
  }

  /** Lists the tokens, the oldest first; `connections` are all that are open. */
  list(connections: readonly Caller[]): Answer<'list_tokens'> {
    return { tokens: this.#files.read().tokens.map((token) => describe(token, connections)) };
  }

  /**
   * Creates a token.
   * @throws AdapterError INVALID_REQUEST when the name is taken, FORBIDDEN for an operator's by a local program
   */
  create({ name, role, expires_in: life }: Request<'create_token'>, principal: Principal): Answer<'create_token'> {
    assertIssuable(role, principal);
    const { token, secret } = this.#files.create({
      name,
      role,
      lifeMs: life === undefined ? undefined : readLife(life),
    });
    this.#store.refresh();
    return { token: describe(token, []), secret };
  }

  /**
   * Replaces the secret of a token, which ends its connections.
   * @throws AdapterError INVALID_REQUEST for an unknown token, FORBIDDEN for an operator's by a local program
   */
  rotate({ name_or_id: nameOrId }: Request<'rotate_token'>, principal: Principal): Answer<'rotate_token'> {
    assertIssuable(this.#files.find(nameOrId).role, principal);
    const { token, secret } = this.#files.rotate(nameOrId);
    this.#store.refresh();
    return { token: describe(token, []), secret };
  }

  /**
   * Deletes a token, which ends its connections.
   * @throws AdapterError INVALID_REQUEST for an unknown token
   */
  revoke({ name_or_id: nameOrId }: Request<'revoke_token'>): Answer<'revoke_token'> {
    const token = this.#files.revoke(nameOrId);
    this.#store.refresh();
    return { token: describe(token, []) };
  }
}

/**
 * Checks that a principal may get the secret of a token with this role. Commands can connect as local programs do: with
 * the token of an operator they could confirm themselves.
 */
function assertIssuable(role: Role, { isLocalPeer }: Principal): void {
  if (!isLocalPeer || (role !== 'operator' && role !== 'admin')) return;
  const why = `programs that connect without a token cannot get a token of the role ${role}, because commands could`;
  const hint = 'connect with a token of the role admin, or use `shell-adapter token`';
  throw new AdapterError('FORBIDDEN', `${why}; ${hint}`, { details: { role } });
}

const describe = (token: Token, connections: readonly Caller[]): TokenInfo => {
  const { id, name, role, run_as: user, created_at, expires_at } = token;
  return {
    token_id: id,
    name,
    role,
    ...(user !== undefined && { run_as: user }),
    created_at,
    expires_at,
    connections: connections.filter(({ principal }) => principal.id === id).length,
  };
};

/**
 * Describes a principal and the requests that its role may make.
 * @param node name of this node of a cluster; undefined for a daemon alone
 */
export function describeAccess(
  { id, name, role, isLocalPeer, expiresAt, pageId }: Principal,
  node: string | undefined,
): Answer<'describe_access'> {
  const may = [...requestsFor(role)];
  const isPage = pageId !== undefined;
  return {
    name,
    role,
    is_local: isLocalPeer,
    ...(id !== LOCAL_ID && { token_id: id }),
    ...(node !== undefined && { node }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    may: may.filter((request) => !isPage || request !== 'create_dashboard_link'),
    server_time: new Date().toISOString(),
  };
}
