import { userInfo } from 'node:os';

/** Number of the user that the daemon runs as. Not by os.userInfo, which throws for one that no list of users has. */
export const ownUid = (): number => process.getuid?.() ?? userInfo().uid;

/** Name of that user; the number for one without a name, as containers have. */
export function ownUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // ENOENT: there is no entry for it (getpwuid_r(3)).
    return String(ownUid());
  }
}
