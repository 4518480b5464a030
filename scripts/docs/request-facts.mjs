// What is known of each request beside its schemas, for programs that do without them.
import { requests } from '../../dist/core/protocol/requests.js';

/** Where it is, from the root of the project. */
export const REQUEST_FACTS_FILE = 'src/core/protocol/request-facts.ts';

const HEAD = `// Generated from requests/ by \`npm run build\`. Change it there. The client and the dashboard do without the schemas.
import type { RequestEntry } from './define-requests.js';
import type { RequestName } from './requests.js';

/** What the client and the daemon look up of each request. */
export const REQUEST_FACTS: { readonly [N in RequestName]: Pick<RequestEntry, 'role' | 'recorded' | 'route' | 'repeat' | 'isLong'> } = {`;

const literal = (value) =>
  typeof value === 'object'
    ? `{ ${Object.entries(value)
        .filter(([, part]) => part !== undefined)
        .map(([key, part]) => `${key}: ${literal(part)}`)
        .join(', ')} }`
    : JSON.stringify(value).replaceAll('"', "'");

/** @returns {string} */
export function renderRequestFacts() {
  const lines = Object.entries(requests).map(
    ([name, { role, recorded, route, repeat, isLong }]) =>
      `  ${name}: ${literal({ role, recorded, route, repeat, isLong })},`,
  );
  return `${[HEAD, ...lines].join('\n')}\n};\n`;
}
