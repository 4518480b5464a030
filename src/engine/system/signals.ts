/**
 * Sends a signal to a process, or with a negative number to a process group.
 * @returns false when there is none, or it belongs to another user
 */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // ESRCH: the process has ended meanwhile. EPERM: it has changed its user; it will be reported as a survivor.
    return false;
  }
}

/** Whether a process with this pid exists, possibly another one than before: a zombie counts. Cheap. */
export function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
