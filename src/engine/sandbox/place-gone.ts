/**
 * What bubblewrap says when a path that it was to hide has gone since it was listed, as `/etc/shadow.lock` does while a
 * user is created.
 */
const PLACE_GONE = /bwrap: Can't (create file at|mkdir|find source path|bind mount) /;

/** Whether a sandbox that said this may be made at another attempt, which lists the paths again. */
export const isPlaceGone = (complaint: string): boolean => PLACE_GONE.test(complaint);
