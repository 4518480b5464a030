import { LOCAL_PRINCIPAL, type Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import { ownerOfPeer, type Peer } from '../../engine/peer-owner.js';
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
  /** Whether `isLocalPeer` has said so of its connection. */
  readonly isLocalPeer: boolean;
}

/** Somebody who was let in. */
export interface Grant {
  readonly principal: Principal;
  /** Aborted when it no longer holds, for a reason that is an AdapterError; undefined for one that always does. */
  readonly ended: AbortSignal | undefined;
}

/** Says who connects, and whether it may. Every transport asks here. */
export class Access {
  readonly #mode: AuthMode;
  readonly #tokens: TokenStore;

  constructor(mode: AuthMode, tokens: TokenStore) {
    this.#mode = mode;
    this.#tokens = tokens;
  }

  /** Whether a page of a browser can be let in, if it shows a token: not where tokens are not asked for. */
  get takesPages(): boolean {
    return this.#mode !== 'none';
  }

  /**
   * Whether who has made a connection needs no token. Not for connections that somebody else forwards: transports look at
   * the headers for that. The files' modes keep others away from the Unix socket. When it cannot be told whose the connection is, the answer is no.
   */
  async isLocalPeer(peer: Peer | 'unix_socket'): Promise<boolean> {
    if (this.#mode !== 'auto') return this.#mode === 'none';
    if (peer === 'unix_socket') return true;
    const owner = await ownerOfPeer(peer);
    return owner !== undefined && owner === process.getuid?.();
  }

  /** @throws AdapterError UNAUTHORIZED, saying what is missing */
  admit({ token, isLocalPeer }: Credentials): Grant {
    if (token === undefined || token === null || token === '') {
      if (isLocalPeer) return { principal: LOCAL_PRINCIPAL, ended: undefined };
      throw new AdapterError('UNAUTHORIZED', NO_TOKEN);
    }
    const shown = typeof token === 'string' ? this.#tokens.find(token) : undefined;
    if (!shown) throw new AdapterError('UNAUTHORIZED', WRONG_TOKEN);
    const { id, name, role } = shown.token;
    return { principal: { id, name, role, isLocalPeer: false }, ended: shown.ended };
  }

  /** Reads the tokens again. */
  refresh(): void {
    this.#tokens.refresh();
  }
}

const NO_TOKEN = 'a token is needed: `shell-adapter token create` makes one';
const WRONG_TOKEN =
  'the token is not known: it is wrong, was revoked, or has expired; `shell-adapter token list` has them';
