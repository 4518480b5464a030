import type { Principal } from '../../core/access/principal.js';

/** A session that counts against the limits of a cluster. */
export interface HeldSession {
  readonly id: string;
  /** Id of its principal; undefined for one whose sessions are not limited. */
  readonly owner: string | undefined;
}

/** A session as it counts for its owner. Sessions of programs that need no token are not limited. */
export const asHeld = ({ id, owner }: { readonly id: string; readonly owner: Principal }): HeldSession => ({
  id,
  owner: owner.isLocalPeer ? undefined : owner.id,
});
