import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Script } from 'node:vm';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { CHUNK_PARAMETERS, codeCacheFolder, loadBundle } from '../../../src/bundle/load-bundle.js';

const CHUNKS = {
  'main.cjs': `const other = require('./other.cjs'); const path = require('node:path');
    exports.sum = other.one + 1; exports.again = require('./other.cjs') === other; exports.sep = path.sep;
    exports.imported = host.importModule('node:os'); exports.url = host.mainUrl; exports.os = host.loadLazily('node:os');`,
  'other.cjs': 'module.exports = { one: 1 };',
};

/** What main.cjs exports. */
interface Loaded {
  readonly imported: Promise<unknown>;
  readonly os: { readonly EOL: string };
}

/** Other texts of the same length: V8 remembers the code of a text that it has compiled, and ignores a cache for it. */
let texts = 1000;
let folder: string;
let main: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
  main = join(folder, 'main.js');
  mkdirSync(join(folder, 'bundle'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function writeChunks(): void {
  texts += 1;
  for (const [name, code] of Object.entries(CHUNKS)) {
    writeFileSync(join(folder, 'bundle', name), `(function (${CHUNK_PARAMETERS.join(', ')}) {${code}/* ${texts} */})`);
  }
}

/** Writes and loads the bundle; gives each chunk's script. */
function load(): Map<string, Script> {
  writeChunks();
  const scripts = new Map<string, Script>();
  const onScript = (name: string, script: Script) => scripts.set(name, script);
  expect(loadBundle(main, createRequire(main), { onScript })).toMatchObject({ sum: 2 });
  return scripts;
}

/** Writes a code cache of the chunks. */
function writeCache(toCache: (script: Script) => Buffer): void {
  const cache = codeCacheFolder(join(folder, 'bundle'));
  const scripts = load();
  mkdirSync(cache);
  for (const [name, script] of scripts) writeFileSync(join(cache, name), toCache(script));
}

const rejections = () => [...load().values()].map(({ cachedDataRejected }) => cachedDataRejected);

describe('the bundle', () => {
  it('gives its chunks each other, packages, imports and the URL of main.js', async () => {
    writeChunks();
    const { imported, os, ...rest } = loadBundle(main, createRequire(main)) as Loaded;
    expect(os.EOL).toBe('\n');
    expect(rest).toEqual({ sum: 2, again: true, sep: '/', url: pathToFileURL(main).href });
    expect(await imported).toHaveProperty('tmpdir');
  });

  it('loads a module of Node.js when a chunk first uses it', () => {
    writeChunks();
    const asked: string[] = [];
    const requirePackage = createRequire(main);
    const { os } = loadBundle(main, (id) => {
      asked.push(id);
      return requirePackage(id) as unknown;
    }) as Loaded;
    expect(asked).toEqual(['node:path']);
    expect([os.EOL, os.EOL]).toEqual(['\n', '\n']);
    expect(asked).toEqual(['node:path', 'node:os']);
  });

  it('takes the chunks of a pack from it, and others from their files', () => {
    const write = (name: string, code: string) => {
      writeFileSync(join(folder, 'bundle', name), code);
    };
    const chunk = (code: string) => `(function (${CHUNK_PARAMETERS.join(', ')}) {${code}})`;
    write('pack.cjs', `({'main.cjs':${chunk("exports.all = ['packed', require('./other.cjs').text];")}})`);
    write('other.cjs', chunk("exports.text = 'a file';"));
    expect(loadBundle(main, createRequire(main), { pack: 'pack.cjs' })).toEqual({ all: ['packed', 'a file'] });
    write('main.cjs', chunk("exports.all = ['a file'];"));
    expect(loadBundle(main, createRequire(main), { pack: 'no-pack.cjs' })).toEqual({ all: ['a file'] });
  });

  it('runs with the code cache of this version of Node.js, and without one', () => {
    expect(rejections()).toEqual([undefined, undefined]);
    writeCache((script) => script.createCachedData());
    expect(rejections()).toEqual([false, false]);
  });

  it.each([
    ['cut off', (cache: Buffer) => cache.subarray(0, cache.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    ['of another version of V8', (cache: Buffer) => Buffer.from(cache).fill(1, 4, 8)],
  ])('runs although the code cache is %s', (_, damage) => {
    writeCache((script) => damage(script.createCachedData()));
    expect(rejections()).toEqual([true, true]);
  });
});
