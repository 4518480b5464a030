import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';

import type { Role } from '../../core/access/roles.js';
import { storedToken, type Token } from '../../core/access/token.js';
import { AdapterError } from '../../core/errors.js';
import { ID_BYTES, tokenIdFrom } from '../../core/ids.js';

/** Bytes of a secret: 256 bits, so that a plain hash of it is as good as any. */
const SECRET_BYTES = 32;
/** What secrets begin with, so that those who look for leaked ones find them. */
const SECRET_PREFIX = 'sat_';

const SUFFIX = '.json';

/** What is read of the tokens of a daemon. */
export interface StoredTokens {
  /** The oldest first. */
  readonly tokens: readonly Token[];
  /** What could not be read, and therefore counts for nothing: a sentence each. */
  readonly problems: readonly string[];
}

/** A token and its secret, which is known at this moment alone. */
export interface IssuedToken {
  readonly token: Token;
  readonly secret: string;
}

/** SHA-256 of a secret. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * The tokens of a daemon, in its state directory: `tokens/ID.json` has each with the hash of its secret, `token` has the
 * secret of the first one. A file of its own for each, because then nobody has to wait for another to write.
 */
export class TokenFiles {
  /** Holds a file for each token. */
  readonly directory: string;
  /** Has the secret of the token that the first start has made. */
  readonly firstSecretFile: string;

  constructor(stateDirectory: string) {
    this.directory = join(stateDirectory, 'tokens');
    this.firstSecretFile = join(stateDirectory, 'token');
  }

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
   * Makes the first token, of the role admin, and keeps its secret in a file that only this user can read. Gives undefined
   * when there have been tokens before, though all of them may be gone.
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
      writeFile(this.firstSecretFile, `${issued.secret}\n`);
      return issued;
    } catch (error) {
      // A token whose secret nobody has would keep the next start from making one.
      if (issued) rmSync(this.#fileOf(issued.token), { force: true });
      if (readdirSync(this.directory).length === 0) rmdirSync(this.directory);
      throw error;
    }
  }

  /** @throws AdapterError INVALID_REQUEST when there is one of that name */
  create({ name, role, lifeMs }: { name: string; role: Role; lifeMs: number | undefined }): IssuedToken {
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
    });
  }

  /** Takes a token away: its secret opens nothing any more. Gives it. */
  revoke(nameOrId: string): Token {
    const token = this.#find(nameOrId);
    rmSync(this.#fileOf(token), { force: true });
    if (this.#isFirst(token)) rmSync(this.firstSecretFile, { force: true });
    return token;
  }

  /** Gives a token another secret. It stays the same one otherwise: what belongs to it still does. */
  rotate(nameOrId: string): IssuedToken {
    const old = this.#find(nameOrId);
    const isFirst = this.#isFirst(old);
    const issued = this.#issue(old);
    if (isFirst) writeFile(this.firstSecretFile, `${issued.secret}\n`);
    return issued;
  }

  /** The secret of the first token; undefined when that is gone. */
  readFirstSecret(): string | undefined {
    return readIfThere(this.firstSecretFile)?.trim();
  }

  #issue(facts: Omit<Token, 'sha256'>): IssuedToken {
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
    const token = { ...facts, sha256: hashOf(secret).toString('hex') };
    // The id is the name of the file.
    writeFile(this.#fileOf(token), `${JSON.stringify({ ...token, id: undefined }, null, 2)}\n`);
    return { token, secret };
  }

  /** @throws AdapterError INVALID_REQUEST */
  #find(nameOrId: string): Token {
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

/** Who else could write there could make tokens: then none counts. */
function whyUnsafe(directory: string): string | undefined {
  const { mode, uid } = statSync(directory);
  if (uid !== process.getuid?.()) return `${directory} belongs to another user: no token in it counts`;
  if ((mode & 0o022) !== 0) return `${directory} can be written by others: no token in it counts; chmod 700 it`;
  return undefined;
}

/** A token, what is wrong with its file, or undefined when it has gone meanwhile. */
function readToken(file: string): Token | string | undefined {
  try {
    const text = readIfThere(file);
    return text === undefined ? undefined : { ...storedToken.parse(JSON.parse(text)), id: basename(file, SUFFIX) };
  } catch (error) {
    // No JSON, no token, or not to be read: the message says which.
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

/** Writes a file that only this user can read; it appears complete or not at all. */
function writeFile(file: string, content: string): void {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.new`;
  const descriptor = openSync(unfinished, 'wx', 0o600);
  try {
    try {
      writeSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
