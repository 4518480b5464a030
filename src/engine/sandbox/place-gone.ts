/**
 * Error of bubblewrap when a path to hide was removed after it had been listed, such as `/etc/shadow.lock` while a user is
 * created.
 */
const PLACE_GONE = /bwrap: Can't (create file at|mkdir|find source path|bind mount) /;

/** Whether another attempt may succeed after this error output: it lists the paths again. */
export const isPlaceGone = (complaint: string): boolean => PLACE_GONE.test(complaint);
