import { readlinkSync } from 'node:fs';

import { listChildren } from '../platform/linux/process-table.js';

/**
 * Returns one process of each mount namespace below a process: a program in a sandbox may have made more of them, with
 * copies of its mounts.
 */
export function mountNamespaces(ancestor: number): readonly number[] {
  const found = new Map<string, number>();
  const visit = (pid: number): void => {
    for (const child of listChildren(pid)) {
      const namespace = namespaceOf(child.pid);
      if (namespace !== undefined && !found.has(namespace)) found.set(namespace, child.pid);
      visit(child.pid);
    }
  };
  visit(ancestor);
  return [...found.values()];
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    // ENOENT: it has ended. EACCES: it has rights that the daemon has not, so it is none of its programs.
    return undefined;
  }
}
