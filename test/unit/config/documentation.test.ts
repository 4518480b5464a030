import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { listSettings, type Setting, valuesIn } from '../../../src/config/model/settings.js';

const SHIPPED = readFileSync(fileURLToPath(new URL('../../../config/shell_adapter.yaml', import.meta.url)), 'utf8');

const nameOf = ({ path }: Setting): string => path.join('.');

/** The shipped file with the keys that are commented out; a line of an explanation may look like one, the key itself follows. */
const uncommented = SHIPPED.split('\n')
  .filter((line) => !/^ *#(?! [a-z_]+:)/.test(line))
  .join('\n');

/** Names of the keys in a parsed file, down to those that hold a value. */
function keysOf(value: unknown, path: readonly string[], names: ReadonlySet<string>): string[] {
  if (names.has(path.join('.')) || typeof value !== 'object' || value === null) return [path.join('.')];
  return Object.entries(value).flatMap(([key, inner]) => keysOf(inner, [...path, key], names));
}

describe.each(listSettings().map((setting) => ({ ...setting, name: nameOf(setting) })))('$name', (setting) => {
  it('has a meaning and a default', () => {
    expect(setting.text).toMatch(/^[A-Z`].*\.$/s);
    expect(setting.fallback).not.toBe('');
  });

  it.each(setting.entry ? valuesIn(setting.entry) : [])(
    'has entries whose keys have a meaning and a default',
    ({ text, fallback }) => {
      expect(text).toMatch(/^[A-Z`].*\.$/s);
      expect(fallback).not.toBe('');
    },
  );
});

it('the shipped configuration has exactly the keys of the schema', () => {
  const names = new Set(listSettings().map(nameOf));
  const shown = keysOf(parse(uncommented.replaceAll(/^( *)# /gm, '$1'), { uniqueKeys: false }), [], names);
  expect(shown.toSorted()).toEqual([...names].toSorted());
});

it('the shipped configuration shows the defaults of the schema', () => {
  const shown = parse(SHIPPED) as Record<string, unknown>;
  for (const { path, fallback } of listSettings()) {
    const literal = /^`([^`]*)`$/.exec(fallback)?.[1];
    const value = path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null)?.[key], shown);
    if (literal === undefined || value === undefined) continue;
    expect(JSON.stringify(value).replaceAll('"', '').toLowerCase(), path.join('.')).toBe(literal.toLowerCase());
  }
});
