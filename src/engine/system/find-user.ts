import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user database of machines without getent(1). */
const PASSWD = '/etc/passwd';
/** Timeout of a query, in milliseconds: the database may be on another machine. */
const QUERY_TIMEOUT_MS = 10_000;
/** Exit code of getent(1) for a name that the database does not have. */
const NOT_FOUND = 2;
const IS_ID = /^\d+$/;

/** A user of this machine. */
export interface User {
  readonly name: string;
  readonly uid: number;
  /** The primary group. */
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
}

/**
 * Finds a user in the user database: that of getent(1), else /etc/passwd.
 * @returns undefined for a name that the database does not have; a number is no name
 * @throws Error when the database cannot be read
 */
export async function findUser(name: string): Promise<User | undefined> {
  const lines = (await entriesFor(name)).split('\n').map((line) => line.split(':'));
  const found = lines.find(([entry]) => entry === name);
  const [, , uid = '', gid = '', , home = '', shell = ''] = found ?? [];
  // A broken entry must not become user 0.
  if (!IS_ID.test(uid) || !IS_ID.test(gid)) return undefined;
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/', shell: shell || '/bin/sh' };
}

async function entriesFor(name: string): Promise<string> {
  try {
    return (await run('getent', ['passwd', name], { timeout: QUERY_TIMEOUT_MS, cwd: '/' })).stdout;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === NOT_FOUND) return '';
    // Alpine's images have it only with a package.
    if (code === 'ENOENT') return readFile(PASSWD, 'utf8');
    throw new Error(`getent could not look the user ${name} up: ${(error as Error).message}`, { cause: error });
  }
}
