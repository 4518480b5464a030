import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listSettings } from '../../../src/config/model/settings.js';

const SHIPPED = readFileSync(fileURLToPath(new URL('../../../config/shell_adapter.yaml', import.meta.url)), 'utf8');

describe.each(listSettings().map((setting) => ({ ...setting, name: setting.path.join('.') })))(
  '$name',
  ({ path, description }) => {
    it('is described, with its default', () => {
      expect(description).toMatch(/^[A-Z].* Default: .+\.$/s);
    });

    it('stands in the shipped configuration', () => {
      expect(SHIPPED).toMatch(new RegExp(`^ +(# )?${path.at(-1) ?? ''}:`, 'm'));
    });
  },
);
