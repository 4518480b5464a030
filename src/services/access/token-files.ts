import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { Role } from '../../core/principal.js';
import { storedToken, type Token } from '../../core/token.js';
import { AdapterError } from '../../core/errors.js';
import { ID_BYTES, tokenIdFrom } from '../../core/ids.js';
import { writePrivateFile } from '../../engine/system/local-files.js';

/** Length of a secret in bytes: with 256 random bits, a plain hash is as good as a slow one. */
const SECRET_BYTES = 32;
/** Prefix of secrets, by which scanners for leaked secrets find them. */
const SECRET_PREFIX = 'sat_';

const SUFFIX = '.json';

export interface StoredTokens {
  /** The oldest first. */
  readonly tokens: readonly Token[];
  /** Files that could not be read, and whose tokens are therefore invalid: one sentence each. */
  readonly problems: readonly string[];
}

/** A token and its secret, which is known only when it is issued. */
export interface IssuedToken {
  readonly token: Token;
  readonly secret: string;
}

export interface NewToken {
  readonly name: string;
  readonly role: Role;
  /** In milliseconds; undefined for no end. */
  readonly lifeMs: number | undefined;
  /** User as which its processes run: it has to exist, and the role has to be `agent`. By default the daemon's own. */
  readonly runAs?: string | undefined;
}

export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * The tokens of a daemon, in its state directory: `tokens/ID.json` contains each token with the hash of its secret,
 * `token` contains the secret of the first one. Each token has its own file, so that writers need no lock.
 */
export class TokenFiles {
  /** Contains one file per token. */
  readonly directory: string;
  /** Contains the secret of the token created by the first start. */
  readonly firstSecretFile: string;

  constructor(stateDirectory: string) {
    this.directory = join(stateDirectory, 'tokens');
    this.firstSecretFile = join(stateDirectory, 'token');
  }

  /** Names of the tokens with a user of their own. The token store reports a directory that cannot be read. */
  namesWithUser(): readonly string[] {
    try {
      return this.read().tokens.flatMap(({ name, run_as: user }) => (user === undefined ? [] : [name]));
    } catch {
      // EACCES, ENOENT
      return [];
    }
  }

  /**
   * Reads all tokens.
   * @throws the file system's error when the directory cannot be read
   */
  read(): StoredTokens {
    if (!existsSync(this.directory)) return { tokens: [], problems: [] };
    const unsafe = whyUnsafe(this.directory);
    if (unsafe !== undefined) return { tokens: [], problems: [unsafe] };
    const tokens: Token[] = [];
    const problems: string[] = [];
    for (const file of readdirSync(this.directory).filter((name) => name.endsWith(SUFFIX))) {
      const found = readToken(join(this.directory, file));
      if (typeof found === 'string') problems.push(found);
      else if (found) tokens.push(found);
    }
    tokens.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at) || (a.id < b.id ? -1 : 1));
    return { tokens, problems };
  }

  /**
   * Creates the first token, with the role admin, and saves its secret in a file that only this user can read. Returns
   * undefined when tokens have existed before, even if all of them are gone.
   */
  createFirst(): IssuedToken | undefined {
    mkdirSync(join(this.directory, '..'), { recursive: true, mode: 0o700 });
    try {
      mkdirSync(this.directory, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
      throw error;
    }
    let issued: IssuedToken | undefined;
    try {
      issued = this.create({ name: 'first', role: 'admin', lifeMs: undefined });
      writePrivateFile(this.firstSecretFile, `${issued.secret}\n`);
      return issued;
    } catch (error) {
      // A token with an unknown secret would prevent the next start from creating one.
      if (issued) rmSync(this.#fileOf(issued.token), { force: true });
      if (readdirSync(this.directory).length === 0) rmdirSync(this.directory);
      throw error;
    }
  }

  /**
   * Creates a token.
   * @throws AdapterError INVALID_REQUEST when the name is taken
   */
  create({ name, role, lifeMs, runAs }: NewToken): IssuedToken {
    if (this.read().tokens.some((token) => token.name === name)) {
      throw new AdapterError('INVALID_REQUEST', `there is a token named ${name}; take another name, or rotate it`);
    }
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const now = Date.now();
    return this.#issue({
      id: tokenIdFrom(randomBytes(ID_BYTES)),
      name,
      role,
      created_at: new Date(now).toISOString(),
      expires_at: lifeMs === undefined ? null : new Date(now + lifeMs).toISOString(),
      ...(runAs !== undefined && { run_as: runAs }),
    });
  }

  /** Deletes a token, which invalidates its secret; returns the token. */
  revoke(nameOrId: string): Token {
    const token = this.find(nameOrId);
    rmSync(this.#fileOf(token), { force: true });
    if (this.#isFirst(token)) rmSync(this.firstSecretFile, { force: true });
    return token;
  }

  /** Replaces the secret of a token. The token keeps its id, and with it everything that it owns. */
  rotate(nameOrId: string): IssuedToken {
    const old = this.find(nameOrId);
    const isFirst = this.#isFirst(old);
    const issued = this.#issue(old);
    if (isFirst) writePrivateFile(this.firstSecretFile, `${issued.secret}\n`);
    return issued;
  }

  /**
   * Keeps a token of another node, whose secret is not known here.
   * @throws the system's error
   */
  keep(token: Token): void {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    this.#write(token);
    this.#forgetFirst();
  }

  /** Deletes a token that another node has revoked. */
  drop(id: string): void {
    rmSync(this.#fileOf({ id }), { force: true });
    this.#forgetFirst();
  }

  /** The secret of the first token; undefined when it is gone. */
  readFirstSecret(): string | undefined {
    return readIfThere(this.firstSecretFile)?.trim();
  }

  #issue(facts: Omit<Token, 'sha256'>): IssuedToken {
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
    const token = { ...facts, sha256: hashOf(secret).toString('hex') };
    this.#write(token);
    return { token, secret };
  }

  #write(token: Token): void {
    // The id is the file name.
    writePrivateFile(this.#fileOf(token), `${JSON.stringify({ ...token, id: undefined }, null, 2)}\n`);
  }

  /** Deletes the secret of the first token once it is that of no token: another node has revoked or replaced it. */
  #forgetFirst(): void {
    if (this.readFirstSecret() === undefined || this.read().tokens.some((token) => this.#isFirst(token))) return;
    rmSync(this.firstSecretFile, { force: true });
  }

  /**
   * Finds a token.
   * @throws AdapterError INVALID_REQUEST when there is none
   */
  find(nameOrId: string): Token {
    const { tokens } = this.read();
    const found = tokens.find(({ id, name }) => id === nameOrId || name === nameOrId);
    if (found) return found;
    const names = tokens.map(({ name }) => name).join(', ') || 'none';
    throw new AdapterError('INVALID_REQUEST', `there is no token ${JSON.stringify(nameOrId)}; there are: ${names}`);
  }

  #isFirst({ sha256 }: Token): boolean {
    const secret = this.readFirstSecret();
    return secret !== undefined && hashOf(secret).toString('hex') === sha256;
  }

  #fileOf({ id }: Pick<Token, 'id'>): string {
    return join(this.directory, `${id}${SUFFIX}`);
  }
}

/** Another user with write access could create tokens: then no token is valid (fail closed). */
function whyUnsafe(directory: string): string | undefined {
  const { mode, uid } = statSync(directory);
  if (uid !== process.getuid?.()) return `${directory} belongs to another user: no token in it counts`;
  if ((mode & 0o022) !== 0) return `${directory} can be written by others: no token in it counts; chmod 700 it`;
  return undefined;
}

/** Returns a token, the problem of its file, or undefined when the file has been deleted meanwhile. */
function readToken(file: string): Token | string | undefined {
  try {
    const text = readIfThere(file);
    return text === undefined ? undefined : { ...storedToken.parse(JSON.parse(text)), id: basename(file, SUFFIX) };
  } catch (error) {
    // Invalid JSON, an invalid token, or an unreadable file: the message says which.
    return `${file} is not a token: ${(error as Error).message}`;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Changes within this time may have the same timestamp, in milliseconds: the kernel's clock for files ticks every 1 to
 * 10 ms.
 */
const CLOCK_TICK_MS = 50;

/** The version of a directory that has to be read in any case. */
export const UNSETTLED = '';

/**
 * A text that is another one after files of a directory were made, deleted or replaced. Shortly after a change, another
 * one can leave the timestamp unchanged: `UNSETTLED`, as for a directory that is not there.
 */
export function versionOf(directory: string): string {
  const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
  if (!stats || Date.now() - Number(stats.ctimeMs) < CLOCK_TICK_MS) return UNSETTLED;
  return `${stats.ino}.${stats.ctimeNs}`;
}
