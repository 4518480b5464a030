import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Those of the standard descriptors that were terminals when the program began. */
const terminals = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * Lets go of terminals that have been closed meanwhile, as they are when a person leaves and the daemon goes on: Node.js
 * puts terminals right when it exits, and crashes when it cannot. To be called last.
 */
export function releaseLostTerminals(): void {
  for (const fd of terminals.filter((terminal) => !isatty(terminal))) {
    closeSync(fd);
    // Takes the number that has just become free.
    openSync('/dev/null', 'r+');
  }
}
