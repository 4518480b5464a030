import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import type { Coding } from './encoding.js';

/** Where the build puts the page. */
export const DASHBOARD_DIRECTORY = fileURLToPath(new URL('../../dashboard', import.meta.url));

/** The page itself. */
const PAGE = 'index.html';
/** Directory of what the page loads. */
const ASSETS = 'assets';

/** Compressed variants, by the suffix that the build gives their files. */
const SUFFIXES: Readonly<Record<string, Coding>> = { '.br': 'br', '.gz': 'gzip' };

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/** A file of the dashboard, in memory. */
export interface ServedFile {
  readonly mediaType: string;
  /** Hash of the content, for `ETag`. */
  readonly hash: string;
  readonly variants: ReadonlyMap<Coding, Buffer>;
}

/** The built dashboard. */
export interface DashboardFiles {
  readonly page: ServedFile;
  /** By file name. */
  readonly assets: ReadonlyMap<string, ServedFile>;
}

/**
 * Reads the built dashboard. Files that the build has not compressed are compressed here.
 * @returns undefined when the directory has no page
 */
export function readDashboard(directory: string): DashboardFiles | undefined {
  if (!existsSync(join(directory, PAGE))) return undefined;
  const folder = join(directory, ASSETS);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => extname(name) in MEDIA_TYPES) : [];
  return {
    page: readServed(join(directory, PAGE)),
    assets: new Map(names.map((name) => [name, readServed(join(folder, name))])),
  };
}

function readServed(path: string): ServedFile {
  const plain = readFileSync(path);
  const built = Object.entries(SUFFIXES).flatMap(([suffix, coding]) =>
    existsSync(path + suffix) ? [[coding, readFileSync(path + suffix)] as const] : [],
  );
  const compressed = built.length > 0 ? built : [['gzip', gzipSync(plain)] as const];
  return {
    mediaType: MEDIA_TYPES[extname(path)] ?? 'application/octet-stream',
    hash: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    variants: new Map([...compressed, ['identity', plain] as const]),
  };
}
