// Writes what is generated from the code: the pages of docs/reference, the states of a session, the manual page, the completion scripts, the types of the
// Python client, and the facts of requests that need no schemas. Reads dist/: build first.
// Usage: node scripts/generate-docs.mjs [--check]; with --check nothing is written, and the exit code is 1 when a page is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { renderCommandLine } from './docs/cli-page.mjs';
import { renderCompletionScript } from './docs/completions.mjs';
import { renderConfiguration } from './docs/configuration-page.mjs';
import { renderConformance } from './docs/conformance-page.mjs';
import { renderCredentials } from './docs/credentials-page.mjs';
import { renderErrors } from './docs/errors-page.mjs';
import { renderEvents } from './docs/events-page.mjs';
import { renderManPage } from './docs/man-page.mjs';
import { renderMetrics } from './docs/metrics-page.mjs';
import { renderPythonModels, renderPythonRequests } from './docs/python-models.mjs';
import { renderSessionStates } from './docs/session-states-page.mjs';
import { renderWarnings } from './docs/warnings-page.mjs';
import { renderProtocolDocument } from '../dist/core/descriptions/protocol-page.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The generated files with the functions that render them. */
const PAGES = {
  'docs/reference/protocol.md': renderProtocolDocument,
  'docs/reference/errors.md': renderErrors,
  'docs/reference/warnings.md': renderWarnings,
  'docs/reference/events.md': renderEvents,
  'docs/reference/cli.md': renderCommandLine,
  'docs/reference/configuration.md': renderConfiguration,
  'docs/reference/metrics.md': renderMetrics,
  'docs/reference/credentials.md': renderCredentials,
  'docs/reference/conformance.md': renderConformance,
  'docs/develop/states-of-a-session.md': renderSessionStates,
  'man/shell-adapter.1': renderManPage,
  'completions/shell-adapter.bash': () => renderCompletionScript('bash'),
  'completions/_shell-adapter': () => renderCompletionScript('zsh'),
  'completions/shell-adapter.fish': () => renderCompletionScript('fish'),
  'clients/python/shell_adapter/models.py': renderPythonModels,
  'clients/python/shell_adapter/_requests.py': renderPythonRequests,
};

const isCheck = process.argv.includes('--check');
for (const [path, render] of Object.entries(PAGES)) {
  const file = join(ROOT, path);
  const page = await render();
  if (existsSync(file) && readFileSync(file, 'utf8') === page) continue;
  if (isCheck) {
    console.error(`${path} is not current: run \`npm run build && npm run docs\``);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page);
    console.log(`${path} is written`);
  }
}
