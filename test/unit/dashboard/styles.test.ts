import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../../src/dashboard', import.meta.url));

/** The files with an ending, without comments. */
const read = (ending: string) =>
  readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => ({ path, text: readFileSync(`${SOURCE}/${path}`, 'utf8').replaceAll(/\/\*[^]*?\*\//g, '') }));

const sheets = read('.css');
const components = read('.tsx');

/** The selectors of a sheet, without those of its media queries. */
const selectorsOf = (text: string): readonly string[] =>
  [...text.matchAll(/([^{};]+)\{/g)]
    .flatMap(([, selectors = '']) => selectors.split(','))
    .map((selector) => selector.trim())
    .filter((selector) => !selector.startsWith('@'));

const classesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = '']) => name);

/** Classes that a sheet styles wherever they are: its selectors begin with them. */
const leadingClasses = (text: string): ReadonlySet<string> =>
  new Set(selectorsOf(text).flatMap((selector) => /^(?:[a-z]+)?\.([\w-]+)/.exec(selector)?.[1] ?? []));

/** Words in the attributes `class` of components. */
const usedClasses = (text: string): readonly string[] =>
  [...text.matchAll(/\bclass=(?:"([^"]*)"|\{([^}]*(?:\{[^}]*\}[^}]*)*)\})/g)].flatMap(
    ([, plain = '', computed = '']) =>
      `${plain} ${[...computed.matchAll(/['"`]([^'"`]*)/g)].join(' ')}`.match(/[\w-]+/g) ?? [],
  );

/** A sheet is loaded with its page, and stays: what it styles must be its own, or pages look as those before have left them. */
it.each(sheets.filter(({ path }) => path.startsWith('pages/')))('$path styles nothing of others', ({ path, text }) => {
  const own = leadingClasses(text);
  const isOther = (other: string) => other !== path && !other.startsWith(`${dirname(path)}/`);
  const styled = sheets
    .filter((sheet) => isOther(sheet.path))
    .flatMap((sheet) =>
      selectorsOf(sheet.text)
        .flatMap(classesIn)
        .map((name) => [name, sheet.path] as const),
    );
  const used = components
    .filter((component) => isOther(component.path))
    .flatMap((component) => usedClasses(component.text).map((name) => [name, component.path] as const));
  const shared = [...styled, ...used].filter(([name]) => own.has(name)).map((entry) => entry.join(' in '));
  expect([...new Set(shared)]).toEqual([]);
});
