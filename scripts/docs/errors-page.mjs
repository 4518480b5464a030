// docs/reference/errors.md: every error code with its meaning, status, retry and next step.
import { CLIENT_ERRORS, ERROR_CATALOGUE } from '../../dist/core/error-catalogue.js';
import { markdownTable } from '../../dist/core/markdown.js';
import { code, renderPage } from './page.mjs';

const RETRIES = {
  later: 'Nothing was done. The same request may succeed later.',
  changed: 'Nothing was done. The same request fails again until the next step was taken.',
  check: 'Something may have been done. Check before you repeat the request.',
};

/** Renders the page. */
export const renderErrors = () =>
  renderPage({
    title: 'Error codes',
    purpose: 'What each error code means, whether a retry helps, and what to do next.',
    source: 'src/core/error-catalogue',
    sections: [
      'An error is `{ "error": { "code", "message", "details" } }`. Codes are never renamed, and never used for something else. ' +
        'A command that fails is not an error: its exit code is in the result.',
      markdownTable(
        ['retry', 'meaning'],
        Object.entries(RETRIES).map(([retry, meaning]) => [code(retry), meaning]),
      ),
      'A request with a `command_id` of the client’s own may always be repeated: a command that is known does not run a second time.',
      'The status is that of the HTTP endpoints. Socket.IO has none: the error is the answer.',
      '## Codes of the daemon',
      markdownTable(
        ['code', 'meaning', 'status', 'retry', 'next step'],
        Object.entries(ERROR_CATALOGUE).map(([name, { meaning, status, retry, next }]) => [
          code(name),
          meaning,
          String(status),
          code(retry),
          next,
        ]),
      ),
      '## Codes of the JavaScript client',
      'A `ClientError` has a code of the daemon, or one of these:',
      markdownTable(
        ['code', 'meaning', 'next step'],
        Object.entries(CLIENT_ERRORS).map(([name, { meaning, next }]) => [code(name), meaning, next]),
      ),
    ],
    next: [
      '[Troubleshooting](../guide/troubleshooting.md): symptoms and remedies.',
      '[Wire protocol](protocol.md): the requests that fail with these codes.',
    ],
  });
