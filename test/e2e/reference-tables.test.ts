import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

import { listSettings } from '../../src/config/model/settings.js';
import { callCli } from './cli/in-process.js';

const readPage = (path: string): string =>
  readFileSync(fileURLToPath(new URL(join('../..', path), import.meta.url)), 'utf8');

it('docs/operate/configuration.md lists existing keys with their defaults', () => {
  const page = readPage('docs/operate/configuration.md');
  const rows = [...page.matchAll(/^\| `((?:[a-z]+)\.\w+)` +\| (.+?) +\|/gm)];
  expect(rows.length).toBeGreaterThan(5);
  const settings = new Map(listSettings().map(({ path, fallback }) => [path.join('.'), fallback]));
  for (const [, key = '', shown = ''] of rows) {
    const fallback = settings.get(key)?.replaceAll('`', '');
    expect(fallback, key).toBeDefined();
    if (/^[`\d]/.test(shown)) expect(shown.replaceAll('`', ''), key).toBe(fallback);
  }
});

it('docs/guide/command-line.md lists every subcommand', async () => {
  const page = readPage('docs/guide/command-line.md');
  const { stdout } = await callCli(['--help']);
  const names = [...stdout.matchAll(/^ {2}(\w+) .*$/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(10);
  const table = page.slice(page.indexOf('## Subcommands'), page.indexOf('## Which daemon'));
  for (const name of names.filter((name) => name !== 'help' && !/^shell/.test(name))) {
    expect(table).toMatch(new RegExp(`\`${name}[ \`]`));
  }
});

it.each(['configuration', 'limits'])('docs/operate/%s.md names keys that exist', (page) => {
  const keys = new Set(listSettings().map(({ path }) => path.join('.')));
  for (const [, key = ''] of readPage(`docs/operate/${page}.md`).matchAll(/`(adapter\.[a-z_]+)`/g)) {
    expect(
      [...keys].some((path) => path === key || path.startsWith(`${key}.`)),
      key,
    ).toBe(true);
  }
});
