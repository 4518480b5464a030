import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';

/** A tree to be made: directories end in a slash, links have a target, all else has a content. Names are bytes (latin1). */
export type TreeSpec = Readonly<
  Record<
    string,
    string | Buffer | { readonly link: string } | { readonly mode: number; readonly content?: string | Buffer }
  >
>;

const bytes = (path: string): Buffer => Buffer.from(path, 'latin1');

/** Makes a tree in a directory, with the directories that it needs. */
export function makeTree(root: string, spec: TreeSpec): void {
  mkdirSync(root, { recursive: true });
  const modes: [string, number][] = [];
  for (const [path, entry] of Object.entries(spec)) {
    const full = `${root}/${path}`;
    const isDirectory = path.endsWith('/');
    mkdirSync(bytes(isDirectory ? full : full.slice(0, full.lastIndexOf('/'))), { recursive: true });
    if (typeof entry === 'string' || Buffer.isBuffer(entry)) {
      if (!isDirectory) writeFileSync(bytes(full), entry);
    } else if ('link' in entry) {
      symlinkSync(bytes(entry.link), bytes(full));
    } else {
      if (!isDirectory) writeFileSync(bytes(full), entry.content ?? '');
      modes.push([full, entry.mode]);
    }
  }
  for (const [path, mode] of modes) chmodSync(bytes(path), mode);
}

/**
 * Removes a file or a whole tree, if it is there. Only root may empty a directory without write permission: each gets it first.
 * @param path bytes for names that are not UTF-8
 */
export function removeTree(path: string | Buffer): void {
  const unlock = (at: Buffer) => {
    if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) return;
    chmodSync(at, 0o700);
    for (const name of readdirSync(at, 'buffer')) unlock(Buffer.concat([at, Buffer.from('/'), name]));
  };
  unlock(Buffer.from(path));
  rmSync(path, { recursive: true, force: true });
}

/** Everything below a directory: path to kind, permissions and content. Names are bytes (latin1). */
export function describeTree(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (prefix: string) => {
    for (const name of readdirSync(bytes(`${root}/${prefix}`), { encoding: 'latin1' }).toSorted()) {
      const path = `${prefix}${name}`;
      const full = bytes(`${root}/${path}`);
      const stat = lstatSync(full);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) found[path] = `-> ${readlinkSync(full, { encoding: 'latin1' })}`;
      else if (stat.isDirectory()) found[`${path}/`] = mode;
      else if (stat.isFile()) found[path] = `${mode} ${contentOf(full)}`;
      else found[path] = 'special';
      if (stat.isDirectory()) visit(`${path}/`);
    }
  };
  visit('');
  return found;
}

/** A short content as it is, a long one as its hash. */
function contentOf(path: Buffer): string {
  const content = readFileSync(path);
  return content.length <= 64
    ? JSON.stringify(content.toString('latin1'))
    : createHash('sha256').update(content).digest('hex');
}
