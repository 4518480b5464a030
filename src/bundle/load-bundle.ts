import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';

/** The parameters of the function that is a chunk's only expression, in their order. `scripts/build.mjs` writes the function's head. */
export const CHUNK_PARAMETERS = ['exports', 'require', 'module', 'host'] as const;

type Chunk = (exports: unknown, require: Require, module: { exports: unknown }, host: Host) => void;

/** Chunks by their file names. */
type Pack = Readonly<Record<string, Chunk | undefined>>;

type Require = (id: string) => unknown;

/** What a module has and a script lacks. */
interface Host {
  /** `import()`, of a package. */
  readonly importModule: (id: string) => Promise<unknown>;
  /** A module of Node.js that is loaded when something of it is used. */
  readonly loadLazily: (id: string) => object;
  /** The URL of main.js. */
  readonly mainUrl: string;
}

/** How a bundle is loaded. */
export interface BundleOptions {
  /** The chunk that is loaded first. @default 'main.cjs' */
  readonly entry?: string;
  /** A file with several chunks, which are read and compiled at once. Other chunks, or all without it, are loaded from their own files. */
  readonly pack?: string;
  /** Called with each chunk's file name and script before the chunk runs. */
  readonly onScript?: (name: string, script: Script) => void;
}

/**
 * Runs a bundled program. Its chunks are scripts rather than modules, because only scripts take a code cache in Node.js 20: V8's
 * compiled code, without which a start takes a third more time. A cache of another version, or for other flags of V8, is not used.
 * @param main The path of main.js. The bundle is in the folder `bundle` beside it.
 * @param requirePackage `require` of main.js, or of a file beside it.
 * @returns what the first chunk exports
 */
export function loadBundle(
  main: string,
  requirePackage: Require,
  { entry = 'main.cjs', pack, onScript }: BundleOptions = {},
): unknown {
  const folder = join(dirname(main), 'bundle');
  const cache = codeCacheFolder(folder);
  const hasCache = existsSync(cache);
  const loaded = new Map<string, { exports: unknown }>();
  const requireChunk = (id: string) => (id.startsWith('./') ? load(id.slice(2)) : requirePackage(id));
  const packed = pack !== undefined && existsSync(join(folder, pack)) ? (compile(pack) as Pack) : {};
  const host: Host = {
    mainUrl: pathToFileURL(main).href,
    importModule: (id) => import(id) as Promise<unknown>,
    loadLazily: (id) => loadedLazily(() => requirePackage(id) as object),
  };

  function load(name: string): unknown {
    const known = loaded.get(name);
    if (known) return known.exports;
    const module = { exports: {} as unknown };
    loaded.set(name, module);
    const chunk = packed[name] ?? (compile(name) as Chunk);
    chunk(module.exports, requireChunk, module, host);
    return module.exports;
  }

  function compile(name: string): unknown {
    const filename = join(folder, name);
    const cachedData = hasCache ? readCache(join(cache, name)) : undefined;
    // The build leaves only ASCII: Latin-1 takes a third of the time, and half of the memory of a text with a single other character.
    const script = new Script(readFileSync(filename, 'latin1'), { filename, ...(cachedData && { cachedData }) });
    onScript?.(name, script);
    return script.runInThisContext();
  }
  return load(entry);
}

/**
 * Where the code cache of this version of Node.js is.
 * @param folder The folder of the chunks.
 */
export function codeCacheFolder(folder: string): string {
  return join(folder, `code-cache-${process.version}-${process.platform}-${process.arch}`);
}

function loadedLazily(load: () => object): object {
  let module: object | undefined;
  return new Proxy({}, { get: (_target, name) => Reflect.get((module ??= load()), name) as unknown });
}

/** A chunk that the build did not run has no cache. */
function readCache(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}
