import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a directory and those above it, if they are missing. Not `mkdir({ recursive })`: where a file system answers
 * ENOENT although the parent is there (/proc, automounted /home), that goes round without end in Node.js 20.
 * @throws the file system's error, also when something else than a directory is there.
 */
export async function makeDirectory(directory: string, mode: number): Promise<void> {
  if (await isDirectory(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) await makeDirectory(parent, mode);
  try {
    await mkdir(directory, { mode });
  } catch (error) {
    // Somebody else may have created it meanwhile.
    if (!(await isDirectory(directory))) throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Missing, or not to be looked at: creating it says which.
    return false;
  }
}
