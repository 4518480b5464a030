import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderConfigurationPage } from '../../../../src/config/model/reference-page.js';
import { listSettings } from '../../../../src/config/model/settings.js';

const PAGE = new URL('../../../../docs/reference/configuration.md', import.meta.url);

it('docs/reference/configuration.md is the page of the schema', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(renderConfigurationPage());
});

it('has one row for each key, with its variable', () => {
  const rows = renderConfigurationPage()
    .split('\n')
    .filter((line) => line.includes('| `SHELL_ADAPTER_'));
  expect(rows.map((row) => row.split('`')[1])).toEqual(listSettings().map(({ path }) => path.join('.')));
});
