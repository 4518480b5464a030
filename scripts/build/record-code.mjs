// Runs a bundled program, and writes the code cache of what has run when it ends: `node record-code.mjs MAIN FOLDER ENTRY ARGUMENT…`.
// With a cache of an earlier run, the new one has the code of both.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , main, folder, entry, ...args] = process.argv;
process.argv = [process.execPath, main, ...args];
const { loadBundle } = await import(pathToFileURL(join(dirname(main), 'bundle/load-bundle.js')).href);
const scripts = new Map();
process.on('exit', () => {
  mkdirSync(folder, { recursive: true });
  for (const [name, script] of scripts) writeFileSync(join(folder, name), script.createCachedData());
});
loadBundle(main, createRequire(main), { entry, onScript: (name, script) => scripts.set(name, script) });
