// Builds the dashboard into dist/dashboard: hashed assets, compressed beside the originals, within the size budgets.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { build } from 'vite';

import { constructedStyleSheets } from './xterm-style-sheets.mjs';

const SOURCE = fileURLToPath(new URL('../../src/dashboard', import.meta.url));

/** Most bytes of what the first page loads, compressed with gzip. */
const FIRST_LOAD_BYTES = 80 * 1024;
/** Most bytes of all files together, compressed with gzip. */
const TOTAL_BYTES = 220 * 1024;

/** What most pages use is one chunk: many small ones compress badly. */
const SHARED = {
  name: 'shared',
  test: /\/(?:preact|@preact|src\/dashboard\/(?:components\/[\w-]+\.tsx?$|state|format|router)|src\/core\/protocol\/permissions)/,
  minShareCount: 2,
};

/** Builds the dashboard, and fails when it exceeds a budget. */
export async function buildDashboard(folder) {
  const manifest = await bundle(folder);
  const sizes = compress(folder);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const first = firstFiles(manifest).reduce((sum, name) => sum + sizes.get(name), 0);
  checkBudget('the first load of the dashboard', first, FIRST_LOAD_BYTES);
  checkBudget('the dashboard', total, TOTAL_BYTES);
}

/** Runs Vite; returns the chunks and assets that it has written. */
async function bundle(folder) {
  const { output } = await build({
    root: SOURCE,
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    base: './',
    publicDir: false,
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [constructedStyleSheets(), requestFacts()],
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      sourcemap: false,
      // Data URLs would hide bytes from the budgets, and the files are few.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { output: { codeSplitting: { groups: [SHARED] } } },
    },
  });
  return output;
}

/** A plugin: takes the facts of requests from the compiled module, which has them without zod. */
function requestFacts() {
  const compiled = fileURLToPath(new URL('../../dist/core/protocol/request-facts.js', import.meta.url));
  return {
    name: 'request-facts',
    enforce: 'pre',
    resolveId: (id) => (id.endsWith('/request-facts.js') ? compiled : undefined),
  };
}

/** Names of the files that the first page loads: the entry with its static imports, their styles, and the page itself. */
function firstFiles(output) {
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const names = new Set(['index.html']);
  const add = (name) => {
    if (names.has(name)) return;
    names.add(name);
    const { imports = [], viteMetadata } = chunks.get(name) ?? {};
    for (const other of [...imports, ...(viteMetadata?.importedCss ?? [])]) add(other);
  };
  for (const { fileName, isEntry } of chunks.values()) if (isEntry) add(fileName);
  return [...names];
}

/** Writes `.gz` and `.br` beside each file; returns the sizes with gzip by name. */
function compress(folder) {
  const sizes = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const content = readFileSync(path);
    const zipped = gzipSync(content, { level: 9 });
    writeFileSync(`${path}.gz`, zipped);
    const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params: quality }));
    sizes.set(path.slice(folder.length + 1), zipped.length);
  }
  return sizes;
}

function checkBudget(what, bytes, budget) {
  if (bytes <= budget) return;
  throw new Error(`${what} has ${bytes} bytes with gzip; the budget is ${budget}: load less at first, or less at all`);
}
