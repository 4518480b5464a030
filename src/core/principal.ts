/** Roles of tokens, each with the sentence that documents it; roughly from the fewest permissions to the most. */
export const ROLES = {
  viewer: 'Looks at everything: sessions, commands, their output and checkpoints of all. Changes nothing.',
  agent: 'Works with what is its own: sessions, commands and checkpoints. Of those of others it learns nothing.',
  operator:
    'Works as an agent does, looks at everything as a viewer does, and confirms and stops the commands of others.',
  admin: 'May do everything, with what belongs to others too.',
} as const;

export type Role = keyof typeof ROLES;

/** Roles that a client may give to a page of the dashboard: none may see or do what its maker may not. */
export const ROLES_GRANTED: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  // A viewer sees what belongs to others.
  agent: ['agent'],
  operator: ['viewer', 'agent', 'operator'],
  admin: ['viewer', 'agent', 'operator', 'admin'],
};

/** Whether a client with a role may give another role to a page. */
export const canGrant = (own: Role, role: Role): boolean => ROLES_GRANTED[own].includes(role);

export const ROLE_NAMES = Object.keys(ROLES) as [Role, ...Role[]];

/** The origin of requests: one token, or all local programs that need none. */
export interface Principal {
  /** Owner id of everything it opens and runs: that of its token, or `local`. */
  readonly id: string;
  /** Name of the token, for people; `local` without one. */
  readonly name: string;
  readonly role: Role;
  /** Name of the user as which its processes run; undefined for the daemon's own. */
  readonly runAs?: string | undefined;
  /**
   * Whether it was accepted without a token, as a program of the daemon's own user on this machine, or is a page that
   * such a program has signed in.
   */
  readonly isLocalPeer: boolean;
  /** When its access ends, as ISO 8601; undefined without an end. */
  readonly expiresAt?: string | undefined;
  /** Id of the sign-in of a page of the dashboard; undefined for other clients. */
  readonly pageId?: string | undefined;
  /** Name of the node of the cluster that has accepted it, and says when its access ends; undefined for this daemon. */
  readonly via?: string | undefined;
}

/** Owner id of everything that was created without a token. No token has it: token ids begin with `token_`. */
export const LOCAL_ID = 'local';

/** Principal of all requests without a token. A process of the daemon's own user can control the daemon in any case. */
export const LOCAL_PRINCIPAL: Principal = { id: LOCAL_ID, name: 'local', role: 'admin', isLocalPeer: true };

/** Kind of access to an object: to see it, to stop what runs in it, or to use it. */
export type AccessKind = 'see' | 'stop' | 'use';

/** Whether a principal has this kind of access to an object of `owner`, the id of a principal. */
export function canAccess({ id, role }: Principal, owner: string, reach: AccessKind): boolean {
  return id === owner || REACHING_OTHERS[reach].includes(role);
}

/** Roles that reach what belongs to others, by the kind of access. */
export const REACHING_OTHERS: Readonly<Record<AccessKind, readonly Role[]>> = {
  see: ['viewer', 'operator', 'admin'],
  stop: ['operator', 'admin'],
  use: ['admin'],
};
