import { closeSync, existsSync, readdirSync, readlinkSync } from 'node:fs';

/**
 * Closes terminals that the process that started this one had open. The daemon's have no close-on-exec flag, and what it
 * starts must not get hold of a session's terminal.
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
