// Writes docs/reference/configuration.md from the schema of the built daemon. With --check it only compares, and exits with 1
// when the page is not up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import { renderConfigurationPage } from '../dist/config/model/reference-page.js';

const PAGE = new URL('../docs/reference/configuration.md', import.meta.url);

const page = renderConfigurationPage();
if (!process.argv.includes('--check')) {
  mkdirSync(new URL('.', PAGE), { recursive: true });
  writeFileSync(PAGE, page);
} else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error('docs/reference/configuration.md is not up to date: npm run build && npm run docs');
  process.exitCode = 1;
}
