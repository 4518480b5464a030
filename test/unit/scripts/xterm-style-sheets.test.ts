import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { describe, expect, it } from 'vitest';

/** The plugin of the build, as far as Vite calls it. */
interface Plugin {
  readonly transform: (code: string, id: string) => { readonly code: string } | undefined;
  readonly generateBundle: () => void;
}

const script = new URL('../../../scripts/build/xterm-style-sheets.mjs', import.meta.url);
const { constructedStyleSheets } = (await import(script.href)) as { readonly constructedStyleSheets: () => Plugin };

const XTERM = createRequire(import.meta.url).resolve('@xterm/xterm/lib/xterm.mjs');
const source = readFileSync(XTERM, 'utf8');

const ELEMENT = 'e.createElement("style");';
const ATTRIBUTE = 'e.setAttribute("style",`${e.getAttribute("style")||""}${i};`);';

/** A source of another version, with so many places to change. */
const other = (elements: number, attributes: number): string => ELEMENT.repeat(elements) + ATTRIBUTE.repeat(attributes);

const countOf = (text: string, part: string): number => text.split(part).length - 1;

describe('the plugin that makes xterm.js work under the strict policy', () => {
  it('changes all places in the installed version', () => {
    const plugin = constructedStyleSheets();
    const { code = '' } = plugin.transform(source, XTERM) ?? {};
    expect(countOf(code, 'createElement("style")')).toBe(0);
    expect(countOf(code, 'setAttribute("style"')).toBe(0);
    // The function itself, and its three calls.
    expect(countOf(code, '__sheetElement(')).toBe(4);
    expect(countOf(code, '.style.cssText+=')).toBe(countOf(source, '.style.cssText+=') + 1);
    expect(plugin.generateBundle).not.toThrow();
  });

  it.each([
    [2, 1, 'createElement("style") 2 times, not 3'],
    [4, 1, 'createElement("style") 4 times, not 3'],
    [3, 0, 'setAttribute("style", …) 0 times, not 1'],
    [3, 2, 'setAttribute("style", …) 2 times, not 1'],
  ])('fails for a version with %d elements and %d attributes, and says what to do', (elements, attributes, fault) => {
    const transform = () => constructedStyleSheets().transform(other(elements, attributes), XTERM);
    expect(transform).toThrow(`xterm.js has ${fault}: look at its new source, then change this plugin`);
  });

  it('leaves other files alone, and fails when xterm.js was not among them', () => {
    const plugin = constructedStyleSheets();
    expect(plugin.transform(source, '/elsewhere/other.mjs')).toBeUndefined();
    expect(plugin.generateBundle).toThrow('xterm.mjs was not patched: has its path changed?');
  });
});
