import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** Returns the uid of the daemon. Not from os.userInfo, which throws for a uid without a passwd entry. */
export const ownUid = (): number => process.getuid?.() ?? userInfo().uid;

/** Returns the name of that user; the uid for one without a name, as in containers. */
export function ownUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // ENOENT: there is no passwd entry (getpwuid_r(3)).
    return String(ownUid());
  }
}

/** The user of processes that are not the daemon's own. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Gives a file of the daemon to the user of the processes for which it is; without an owner it stays as it is. Only for
 * files in directories to which that user cannot write: a link would be followed.
 */
export function giveFile(path: string, owner: FileOwner | undefined): void {
  if (owner) chownSync(path, owner.uid, owner.gid);
}

/** Writes a file that only the user of the processes can read; without an owner that is the daemon's user. */
export function writeFileFor(owner: FileOwner | undefined, path: string, text: string | Uint8Array): void {
  writeFileSync(path, text, { mode: 0o600 });
  giveFile(path, owner);
}

/**
 * Creates a directory for files of processes: only the daemon's user can enter it. With an owner, that user's group can
 * pass through it; its files are protected by their own modes. It belongs to the daemon all the same, so that its entries
 * cannot be replaced by links, which the daemon would follow.
 */
export function makeDirectoryFor(owner: FileOwner | undefined, path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!owner) return;
  chownSync(path, process.getuid?.() ?? 0, owner.gid);
  chmodSync(path, 0o710);
}
