// A Vite plugin: makes xterm.js work under a Content-Security-Policy without `unsafe-inline` for styles.

/** What xterm.js 6.0.0 contains, and how often: another version has to be looked at again. */
const STYLE_ELEMENTS = { found: /([\w$.]+)\.createElement\("style"\)/g, times: 3 };
const STYLE_ATTRIBUTES = {
  found: /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g,
  times: 1,
};

/**
 * An element that is never styled itself: its text goes into a constructed style sheet, which such a policy does not
 * block. Removing the element removes the sheet.
 */
const SHEET_ELEMENT = `function __sheetElement(owner) {
  const element = owner.createElement('span');
  const sheet = new CSSStyleSheet();
  element.hidden = true;
  owner.adoptedStyleSheets = [...owner.adoptedStyleSheets, sheet];
  Object.defineProperty(element, 'textContent', { set: (text) => { sheet.replaceSync(text); } });
  element.remove = () => {
    owner.adoptedStyleSheets = owner.adoptedStyleSheets.filter((other) => other !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
`;

/** The plugin. It fails the build unless it finds exactly what xterm.js 6.0.0 contains. */
export function constructedStyleSheets() {
  let isPatched = false;
  return {
    name: 'xterm-style-sheets',
    transform(code, id) {
      if (!id.endsWith('/@xterm/xterm/lib/xterm.mjs')) return undefined;
      isPatched = true;
      return { code: SHEET_ELEMENT + patchXterm(code), map: null };
    },
    generateBundle() {
      if (!isPatched) throw new Error('xterm.mjs was not patched: has its path changed?');
    },
  };
}

/** Replaces the style elements and attributes in the source of xterm.js. */
export function patchXterm(code) {
  const elements = replaceExactly(code, STYLE_ELEMENTS, '__sheetElement($1)', 'createElement("style")');
  return replaceExactly(elements, STYLE_ATTRIBUTES, '$1.style.cssText+=`${$2};`', 'setAttribute("style", …)');
}

function replaceExactly(code, { found, times }, replacement, name) {
  const count = code.match(found)?.length ?? 0;
  if (count === times) return code.replaceAll(found, replacement);
  throw new Error(`xterm.js has ${name} ${count} times, not ${times}: look at its new source, then change this plugin`);
}
