import { closeSync, readdirSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Lists the open descriptors of the process that lists it, on Linux, macOS and the BSDs. */
const OWN_DESCRIPTORS = '/dev/fd';

/**
 * Closes terminals inherited from the parent process. The daemon's terminals have no close-on-exec flag, and its
 * children must not get access to a session's terminal.
 */
export function closeInheritedTerminals(): void {
  for (const fd of readdirSync(OWN_DESCRIPTORS).map(Number)) {
    // The descriptor of the listing itself is closed by now, and no terminal.
    if (fd > 2 && isatty(fd)) closeSync(fd);
  }
}
