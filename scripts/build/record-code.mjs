// Runs a bundled program, and writes the code cache of what has run when it ends: `node record-code.mjs '{"main":…,"cache":…,"entry":…}' ARGUMENT…`.
// With a cache of an earlier run, the new one has the code of both.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { main, cache, ...options } = JSON.parse(process.argv[2]);
process.argv = [process.execPath, main, ...process.argv.slice(3)];
const { loadBundle } = await import(pathToFileURL(join(dirname(main), 'bundle/load-bundle.js')).href);
const scripts = new Map();
process.on('exit', () => {
  mkdirSync(cache, { recursive: true });
  for (const [name, script] of scripts) writeFileSync(join(cache, name), script.createCachedData());
});
loadBundle(main, createRequire(main), { ...options, onScript: (name, script) => scripts.set(name, script) });
