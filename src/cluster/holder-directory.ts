import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { z } from 'zod';

import { lockedBy, tryLock, unlock } from '../engine/instance/file-lock.js';
import type { Platform } from '../engine/platform/platform.js';
import { isProcess } from '../engine/platform/choose-platform.js';
import { writePrivateFile } from '../engine/system/local-files.js';

/** Most daemons that may share a state directory and a port setting. */
const MAX_DAEMONS = 64;
/** Names of holders, which are also those of their nodes. */
const HOLDER_NAME = /^holder-[1-9]\d*$/;
const SECRET_BYTES = 32;

const record = z.object({
  name: z.string().regex(HOLDER_NAME),
  pid: z.int().positive(),
  /** See `ProcessOrigins.identityOf`. */
  identity: z.string(),
  /** Where it listens for the daemon. */
  url: z.url(),
  version: z.string(),
  /** Equal for holders that a daemon would start in the same way: see `fingerprintOf`. */
  fingerprint: z.string(),
});

/** A process that holds sessions, as it has noted itself. */
export type HolderRecord = z.output<typeof record>;

/**
 * The directory of the holders of a daemon: the secret that they share with it, and a file for each with where it is
 * reached. It outlives both.
 */
export class HolderDirectory {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** `socketio.port` of its daemon. */
  get port(): number {
    return Number.parseInt(basename(this.path), 10);
  }

  /** The process id of the daemon that has it; undefined when none runs. */
  ownerOn(platform: Platform): number | undefined {
    return lockedBy(lockIn(this.path), platform);
  }

  /** The file with the secret that the daemon and its holders share. */
  get secretFile(): string {
    return join(this.path, 'secret');
  }

  logOf(name: string): string {
    return join(this.path, `${name}.log`);
  }

  auditOf(name: string): string {
    return join(this.path, `${name}.audit.jsonl`);
  }

  /** The audit logs of the holders that have run, in their order. */
  auditLogs(): readonly string[] {
    const names = existsSync(this.path) ? readdirSync(this.path) : [];
    const holders = names.flatMap((name) => /^(holder-[1-9]\d*)\.audit\.jsonl$/.exec(name)?.[1] ?? []);
    return holders.toSorted().map((name) => this.auditOf(name));
  }

  /**
   * The id of what is held: one that was noted before, as long as a holder runs.
   * @param fresh the id that is noted otherwise
   */
  runOf(fresh: string): string {
    const file = join(this.path, 'run');
    if (this.living().length > 0 && existsSync(file)) return readFileSync(file, 'utf8');
    writeFileSync(file, fresh, { mode: 0o600 });
    return fresh;
  }

  /** The holders that run. The files of others are removed. */
  living(): readonly HolderRecord[] {
    return this.#files().flatMap((file) => {
      const found = readRecord(file);
      if (found && isProcess(found.pid, found.identity)) return [found];
      rmSync(file, { force: true });
      return [];
    });
  }

  freeName(): string {
    const taken = new Set(this.living().map(({ name }) => name));
    for (let number = 1; ; number += 1) if (!taken.has(`holder-${number}`)) return `holder-${number}`;
  }

  write(holder: HolderRecord): void {
    writePrivateFile(this.#fileOf(holder.name), JSON.stringify(holder));
  }

  remove(name: string): void {
    rmSync(this.#fileOf(name), { force: true });
  }

  #fileOf(name: string): string {
    return join(this.path, `${name}.json`);
  }

  #files(): readonly string[] {
    const names = existsSync(this.path) ? readdirSync(this.path) : [];
    return names.filter((name) => HOLDER_NAME.test(name.replace(/\.json$/, ''))).map((name) => join(this.path, name));
  }
}

/** The directories of the holders of all daemons with this state directory. */
export function allHolderDirectories(stateDirectory: string): readonly HolderDirectory[] {
  const parent = parentOf(stateDirectory);
  const names = existsSync(parent) ? readdirSync(parent) : [];
  return names.map((name) => new HolderDirectory(join(parent, name)));
}

/** The directory of the only daemon with this port. */
export const directoryOf = (stateDirectory: string, port: number): HolderDirectory =>
  new HolderDirectory(join(parentOf(stateDirectory), String(port)));

/** A directory that a running daemon has for itself. */
export interface OwnedDirectory extends Disposable {
  readonly directory: HolderDirectory;
}

/**
 * Takes the directory of the daemon with this port, and makes it if it is missing. Of several daemons that run with the
 * same setting, as with port 0, each has its own.
 * @throws the system's error when it cannot be made
 */
export function ownDirectory(stateDirectory: string, port: number, platform: Platform): OwnedDirectory {
  for (let number = 1; number <= MAX_DAEMONS; number += 1) {
    const path = join(parentOf(stateDirectory), number === 1 ? String(port) : `${port}-${number}`);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = lockIn(path);
    if (tryLock(lock, platform)) continue;
    const directory = new HolderDirectory(path);
    ensureSecret(directory.secretFile);
    return {
      directory,
      [Symbol.dispose]: () => {
        unlock(lock);
      },
    };
  }
  throw new Error(`${parentOf(stateDirectory)} has ${MAX_DAEMONS} daemons with port ${port}: no more can be started`);
}

const lockIn = (path: string): string => join(path, 'lock');

const parentOf = (stateDirectory: string): string => join(stateDirectory, 'holders');

function ensureSecret(file: string): void {
  if (!existsSync(file)) writePrivateFile(file, randomBytes(SECRET_BYTES).toString('hex'));
}

/** A file that cannot be read is that of no holder. */
function readRecord(file: string): HolderRecord | undefined {
  try {
    return record.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
