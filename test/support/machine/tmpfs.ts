import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory of a fixed size, unmounted when it is disposed of. */
export class Tmpfs implements Disposable {
  readonly path: string;

  /** @param sizeMib its size in MiB */
  constructor(sizeMib: number) {
    this.path = mkdtempSync(join(tmpdir(), 'shell-adapter-tmpfs-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'none', this.path], { stdio: 'pipe' });
    } catch (error) {
      rmdirSync(this.path);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    // Lazily: what a failed test left open in it must not keep it mounted.
    execFileSync('umount', ['-l', this.path]);
    rmdirSync(this.path);
  }
}

/** Whether this user may mount: root may, but not in every container. */
export function canMount(): boolean {
  try {
    new Tmpfs(1)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}
