import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { listSettings } from '../../../../src/config/model/settings.js';

/** What `npm run check:docs` compares with the page that the schema gives. */
const PAGE = readFileSync(new URL('../../../../docs/reference/configuration.md', import.meta.url), 'utf8');

it('docs/reference/configuration.md has one row for each key, with its variable', () => {
  const rows = PAGE.split('\n').filter((line) => line.includes('| `SHELL_ADAPTER_'));
  expect(rows.map((row) => row.split('`')[1])).toEqual(listSettings().map(({ path }) => path.join('.')));
});
