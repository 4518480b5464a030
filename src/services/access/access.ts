import { FailedAttempts } from '../../core/access/failed-attempts.js';
import { LOCAL_ID, LOCAL_PRINCIPAL, type Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import { type Peer, socketOfPeer } from '../../engine/peer/peer-credentials.js';
import { isSocketInOwnPidNamespace } from '../../engine/peer/pid-namespace-sockets.js';
import type { RequestAudit } from '../audit/request-audit.js';
import type { TokenStore } from './token-store.js';

/**
 * Who needs a token: `auto` lets in programs of the daemon's own user without one, `token` nobody, `none` everybody who can
 * connect at all.
 */
export type AuthMode = 'auto' | 'token' | 'none';

/** What somebody shows who wants to be let in. */
export interface Credentials {
  /** As it came over the wire: anything, or undefined. */
  readonly token: unknown;
  /** Why it needs a token, as a clause; undefined for a program of the daemon's own user, as `whyForeign` says. */
  readonly whyForeign: string | undefined;
  /** Of the other end, without its port: wrong tokens are counted by it. */
  readonly address: string;
  /** How the connection came, for records. */
  readonly from: string;
}

/** Somebody who was let in. */
export interface Authentication {
  readonly principal: Principal;
  /** Aborted when it no longer holds, for a reason that is an AdapterError; undefined for one that always does. */
  readonly ended: AbortSignal | undefined;
}

/** Says who connects, and whether it may. Every transport asks here. */
export class Access {
  readonly #mode: AuthMode;
  readonly #tokens: TokenStore;
  readonly #audit: Pick<RequestAudit, 'connectionRefused'>;
  readonly #hasSandboxes: () => boolean;
  readonly #failures = new FailedAttempts();
  /** Connections that have come by the Unix socket. */
  readonly #unixPeers = new WeakSet<Peer>();

  /** @param hasSandboxes whether something may run in a sandbox that can connect to the daemon */
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
   * Takes note of a connection by the Unix socket: the modes of its folder let nobody else but root in, and no sandbox
   * shows that folder.
   */
  readonly noteUnixPeer = (peer: Peer): void => void this.#unixPeers.add(peer);

  /** Whether a page of a browser can be let in, if it shows a token: not where tokens are not asked for. */
  get takesPages(): boolean {
    return this.#mode !== 'none';
  }

  /**
   * Why a connection needs a token, as a clause; undefined when a process of the daemon's own user has made it that is in no sandbox.
   * Not for connections that are forwarded: transports look at the headers for that. If the owner of a connection cannot be told, it
   * needs a token.
   */
  async whyForeign(peer: Peer): Promise<string | undefined> {
    if (this.#mode === 'none' || (this.#mode === 'auto' && this.#unixPeers.has(peer))) return undefined;
    if (this.#mode === 'token') return 'auth.mode is token';
    const socket = await socketOfPeer(peer);
    if (socket === undefined || socket.owner !== process.getuid?.())
      return "the connection is not from a process of the daemon's own user on this machine";
    const isSandboxed = this.#hasSandboxes() && !(await isSocketInOwnPidNamespace(socket.inode));
    return isSandboxed ? 'the connection comes out of a sandbox' : undefined;
  }

  /**
   * Why an address has to wait that has shown wrong tokens; undefined when it need not. Those of the daemon's own user are not
   * counted.
   */
  retryAfter(address: string): string | undefined {
    const wait = this.#failures.waitOf(address, performance.now());
    if (wait === 0) return undefined;
    return `too many wrong tokens have come from this address; wait ${Math.ceil(wait / 1000)} s`;
  }

  /** @throws AdapterError UNAUTHORIZED, saying what is missing; RATE_LIMITED after too many wrong tokens */
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

  /** Whether a principal that was let in would be so now. */
  isActive({ id }: Principal): boolean {
    return id === LOCAL_ID || this.#tokens.isActive(id);
  }

  /** Reads the tokens again. */
  refresh(): void {
    this.#tokens.refresh();
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
