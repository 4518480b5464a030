import type { Role } from './roles.js';

/** Who makes requests: one token, or all programs of this machine that need none. */
export interface Principal {
  /** What it opens and runs belongs to this id: that of its token, or `local`. */
  readonly id: string;
  /** Of the token, for people; `local` without one. */
  readonly name: string;
  readonly role: Role;
  /** Whether it was let in without a token, as a program of the daemon's own user on this machine. */
  readonly isLocalPeer: boolean;
}

/** Id that everything belongs to which was made without a token. No token has it: theirs begin with `token_`. */
export const LOCAL_ID = 'local';

/** All who come without a token. Who is the daemon's own user can do to the daemon whatever it wants anyhow. */
export const LOCAL_PRINCIPAL: Principal = { id: LOCAL_ID, name: 'local', role: 'admin', isLocalPeer: true };

/** What is wanted of something: to look at it, or to do something with it. */
export type AccessKind = 'see' | 'use';

/** Whether a principal may do that with what belongs to `owner`, the id of a principal. */
export function canAccess({ id, role }: Principal, owner: string, reach: AccessKind): boolean {
  return id === owner || role === 'admin' || (reach === 'see' && role !== 'agent');
}
