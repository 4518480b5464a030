import { FailedAttempts } from '../../core/access/failed-attempts.js';
import { LOCAL_ID, LOCAL_PRINCIPAL, type Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import { type Peer, PeerSockets } from '../../engine/peer/peer-credentials.js';
import { PidNamespaceSockets } from '../../engine/peer/pid-namespace-sockets.js';
import type { PeerSocket } from '../../engine/peer/socket-table.js';
import type { RequestAudit } from '../audit/request-audit.js';
import type { TokenStore } from './token-store.js';

/**
 * Which connections need a token: with `auto`, programs of the daemon's own user connect without one; with `token`,
 * every connection needs one; with `none`, every connection that reaches the port is accepted.
 */
export type AuthMode = 'auto' | 'token' | 'none';

/** Facts about a connection for its authentication. */
export interface Credentials {
  /** As received over the wire: any value, or undefined. */
  readonly token: unknown;
  /** Why a token is needed, as a clause; undefined for a program of the daemon's own user (see `whyForeign`). */
  readonly whyForeign: string | undefined;
  /** Address of the peer without its port: wrong tokens are counted by address. */
  readonly address: string;
  /** Origin of the connection, for records. */
  readonly from: string;
}

/** An authenticated connection. */
export interface Authentication {
  readonly principal: Principal;
  /** Aborted when the authentication ends; the reason is an AdapterError. Undefined for one that never ends. */
  readonly ended: AbortSignal | undefined;
}

/** Authenticates connections, for every transport. */
export class Access {
  readonly #mode: AuthMode;
  readonly #tokens: TokenStore;
  readonly #audit: Pick<RequestAudit, 'connectionRefused'>;
  readonly #hasSandboxes: () => boolean;
  readonly #failures = new FailedAttempts();
  /**
   * The peers' sockets of open connections. A lookup reads all connections of the machine, and neither owner nor inode of
   * a connection's socket changes. The process that holds it can change, so that is examined for each request.
   */
  readonly #sockets = new WeakMap<Peer, PeerSocket>();
  readonly #peerSockets = new PeerSockets();
  readonly #insideSockets = new PidNamespaceSockets();
  /** Connections over the Unix socket. */
  readonly #unixPeers = new WeakSet<Peer>();

  /** @param hasSandboxes true when commands may run in a sandbox from which the daemon can be reached */
  constructor(
    mode: AuthMode,
    tokens: TokenStore,
    audit: Pick<RequestAudit, 'connectionRefused'>,
    hasSandboxes: () => boolean,
  ) {
    this.#mode = mode;
    this.#hasSandboxes = hasSandboxes;
    this.#tokens = tokens;
    this.#audit = audit;
  }

  /**
   * Notes a connection over the Unix socket: the mode of its directory denies access to all other users but root, and
   * no sandbox contains that directory.
   */
  readonly noteUnixPeer = (peer: Peer): void => void this.#unixPeers.add(peer);

  /** True when browser pages with a token are accepted: not where tokens are never checked. */
  get takesPages(): boolean {
    return this.#mode !== 'none';
  }

  /**
   * Why a connection needs a token, as a clause; undefined when it comes from an unsandboxed process of the daemon's
   * own user. Not for forwarded connections: transports check the headers for that. A connection whose owner is unknown
   * needs a token (fail closed).
   */
  async whyForeign(peer: Peer): Promise<string | undefined> {
    if (this.#mode === 'none' || (this.#mode === 'auto' && this.#unixPeers.has(peer))) return undefined;
    if (this.#mode === 'token') return 'auth.mode is token';
    const socket = await this.#socketOf(peer);
    if (!socket || socket.owner !== process.getuid?.())
      return "the connection is not from a process of the daemon's own user on this machine";
    const isSandboxed = this.#hasSandboxes() && !(await this.#insideSockets.holds(socket.inode));
    return isSandboxed ? 'the connection comes out of a sandbox' : undefined;
  }

  /**
   * Why an address has to wait after wrong tokens; undefined when it need not. Attempts of the daemon's own user are
   * not counted.
   */
  retryAfter(address: string): string | undefined {
    const wait = this.#failures.waitOf(address, performance.now());
    if (wait === 0) return undefined;
    return `too many wrong tokens have come from this address; wait ${Math.ceil(wait / 1000)} s`;
  }

  /**
   * Authenticates a connection.
   * @throws AdapterError UNAUTHORIZED, with the missing part; RATE_LIMITED after too many wrong tokens
   */
  admit(credentials: Credentials): Authentication {
    const { whyForeign, address, from } = credentials;
    try {
      const why = whyForeign === undefined ? undefined : this.retryAfter(address);
      if (why !== undefined) throw new AdapterError('RATE_LIMITED', why);
      return this.#judge(credentials);
    } catch (error) {
      if (error instanceof AdapterError) this.#audit.connectionRefused(from, address, error.toBody());
      throw error;
    }
  }

  /** True when an authenticated principal would still be accepted now. */
  isActive({ id }: Principal): boolean {
    return id === LOCAL_ID || this.#tokens.isActive(id);
  }

  /** Reads the tokens again. */
  refresh(): void {
    this.#tokens.refresh();
  }

  async #socketOf(peer: Peer): Promise<PeerSocket | undefined> {
    const known = this.#sockets.get(peer);
    if (known) return known;
    const found = await this.#peerSockets.find(peer);
    if (found) this.#sockets.set(peer, found);
    return found;
  }

  #judge({ token, whyForeign, address }: Credentials): Authentication {
    if (token === undefined || token === null || token === '') {
      if (whyForeign === undefined) return { principal: LOCAL_PRINCIPAL, ended: undefined };
      throw new AdapterError('UNAUTHORIZED', noToken(whyForeign));
    }
    const shown = typeof token === 'string' ? this.#tokens.find(token) : undefined;
    if (!shown) {
      if (whyForeign !== undefined) this.#failures.note(address, performance.now());
      throw new AdapterError('UNAUTHORIZED', WRONG_TOKEN);
    }
    const { id, name, role } = shown.token;
    return { principal: { id, name, role, isLocalPeer: false }, ended: shown.ended };
  }
}

const noToken = (why: string): string => `a token is needed (${why}): \`shell-adapter token create\` makes one`;
const WRONG_TOKEN =
  'the token is not known: it is wrong, was revoked, or has expired; `shell-adapter token list` has them';
