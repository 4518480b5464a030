/** Roles of tokens, each with the sentence that documents it; roughly from the fewest permissions to the most. */
export const ROLES = {
  viewer: 'Looks at everything: sessions, commands, their output and checkpoints of all. Changes nothing.',
  agent: 'Works with what is its own: sessions, commands and checkpoints. Of those of others it learns nothing.',
  operator:
    'Works as an agent does, looks at everything as a viewer does, and confirms and stops the commands of others.',
  admin: 'May do everything, with what belongs to others too.',
} as const;

/** Role of a token. */
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

/** The roles, in the order of `ROLES`. */
export const ROLE_NAMES = Object.keys(ROLES) as [Role, ...Role[]];
