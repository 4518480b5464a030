import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents. Not `mkdir({ recursive })`: where a file system returns ENOENT although
 * the parent exists (/proc, automounted /home), that loops without end in Node.js 20.
 * @throws the file system's error, also when the path exists and is not a directory
 */
export async function makeDirectory(directory: string, mode: number): Promise<void> {
  if (await isDirectory(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) await makeDirectory(parent, mode);
  try {
    await mkdir(directory, { mode });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!(await isDirectory(directory))) throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Missing or not accessible: creating it raises the precise error.
    return false;
  }
}
