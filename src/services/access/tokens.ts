import { AdapterError } from '../../core/errors.js';
import type { Principal } from '../../core/access/principal.js';
import type { Role } from '../../core/access/roles.js';
import { readLife, type Token } from '../../core/access/token.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { TokenInfo } from '../../core/protocol/requests/tokens.js';
import type { Caller } from '../registry/caller.js';
import type { TokenFiles } from './token-files.js';
import type { TokenStore } from './token-store.js';

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
