import { AdapterError } from '../errors.js';
import type { RequestName } from './requests.js';
import { type AccessKind, type Principal, REACHING_OTHERS, type Role, ROLE_NAMES } from '../principal.js';
import { REQUEST_FACTS } from './request-facts.js';

const NAMES = Object.keys(REQUEST_FACTS) as RequestName[];

/** The roles that may make a request: the least one, and those above it. */
export const rolesFor = (name: RequestName): readonly Role[] =>
  ROLE_NAMES.slice(ROLE_NAMES.indexOf(REQUEST_FACTS[name].role));

/** The requests that a role may make. */
export const requestsFor = (role: Role): readonly RequestName[] =>
  NAMES.filter((name) => rolesFor(name).includes(role));

/**
 * Checks that a role may make a request.
 * @throws AdapterError FORBIDDEN with the required role
 */
export function assertPermitted(role: Role, name: RequestName): void {
  const roles = rolesFor(name);
  if (roles.includes(role)) return;
  const needed = roles.length === 1 ? `the role ${roles.join('')}` : `one of the roles ${roles.join(', ')}`;
  throw new AdapterError('FORBIDDEN', `${name} needs ${needed}; this connection has the role ${role}`, {
    details: { request: name, role, needs: [...roles] },
  });
}

/** The error for a principal that may see something, but neither stop nor use it. */
export function forbidden(what: string, { role }: Principal, reach: Exclude<AccessKind, 'see'>): AdapterError {
  const needs = REACHING_OTHERS[reach];
  const message = `${what} belongs to another token; the role ${needs.join(' or ')} may ${reach} it, ${role} may not`;
  return new AdapterError('FORBIDDEN', message, { details: { role, needs: [...needs] } });
}
