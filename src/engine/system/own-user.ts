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
