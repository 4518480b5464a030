import type { RequestEntry } from './define-requests.js';
import { type RequestName, requests } from './requests.js';

/** What programs look up of a request that do not parse it. */
export type RequestFacts = Pick<RequestEntry, 'role' | 'recorded' | 'route' | 'repeat' | 'isLong'>;

/**
 * The facts of each request. `scripts/build/compile.mjs` writes them into the compiled module in place of this expression: the
 * client and the dashboard do without the schemas.
 */
export const REQUEST_FACTS = Object.fromEntries(
  Object.entries<RequestEntry>(requests).map(([name, { role, recorded, route, repeat, isLong }]) => [
    name,
    { role, recorded, route, repeat, ...(isLong !== undefined && { isLong }) },
  ]),
) as { readonly [N in RequestName]: RequestFacts };
