// Says which folders of src have more files than a reader takes in at a glance; exit code 1 when there is one.
import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAX_FILES = 20;

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');

const counts = new Map();
for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
  if (entry.isFile()) counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
}
const full = [...counts].filter(([, count]) => count > MAX_FILES);
for (const [folder, count] of full)
  console.error(`${relative(root, folder)} has ${count} files, and may have ${MAX_FILES}: divide it by question`);
process.exit(full.length > 0 ? 1 : 0);
