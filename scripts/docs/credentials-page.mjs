// docs/reference/credentials.md: the places of credentials that the policy asks about and sandboxes hide.
import { markdownTable } from '../../dist/core/markdown.js';
import { CREDENTIAL_PLACES, PUBLIC_NAMES } from '../../dist/core/secrets.js';
import { code, renderPage } from './page.mjs';

const codes = (names) => names.map((name) => code(name)).join(', ');

/** Renders the page. */
export function renderCredentials() {
  return renderPage({
    title: 'Places of credentials',
    purpose: 'The files that the policy asks about before a command reads them, and that sandboxes hide.',
    source: 'src/core/secrets.ts',
    sections: [
      '`~` is a home directory, `**` any depth, `*` any characters of a name. A pattern without a slash is a name in any directory; ' +
        'sandboxes hide such files only at the top of a home directory. The memory and environment of processes, and the ' +
        'state and runtime directories of the daemon, belong to them as well.',
      markdownTable(
        ['of', 'places'],
        CREDENTIAL_PLACES.map(({ of, paths }) => [of, codes(paths)]),
      ),
      `Any command may read ${codes(PUBLIC_NAMES)}.`,
    ],
    next: [
      '[Policy](../operate/policy.md): what else is asked about.',
      '[Sandbox](../operate/sandbox.md): what a sandbox hides.',
    ],
  });
}
