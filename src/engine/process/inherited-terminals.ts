import { closeSync, existsSync, readdirSync, readlinkSync } from 'node:fs';

/**
 * Closes terminals inherited from the parent process. The daemon's terminals have no close-on-exec flag, and its
 * children must not get access to a session's terminal.
 */
export function closeInheritedTerminals(): void {
  if (!existsSync('/proc/self/fd')) return;
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd > 2 && isTerminal(fd)) closeSync(fd);
  }
}

function isTerminal(fd: number): boolean {
  try {
    return /^\/dev\/(ptmx|pts\/)/.test(readlinkSync(`/proc/self/fd/${fd}`));
  } catch {
    // ENOENT: the descriptor of the listing itself.
    return false;
  }
}
