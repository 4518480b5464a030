// Checks that src/ is written in plain English: no phrase that docs/develop/glossary.md replaces by a term of the field.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Phrases that describe a part of the program as a person, or have a standard term. */
const PHRASES = /\b(?:somebody|nobody|whoever|is made of|sees to|seen to|lets? in|anew|by itself|in the eyes of)\b/i;

const findings = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const phrase = PHRASES.exec(line)?.[0];
        return phrase === undefined ? [] : [`${path.slice(ROOT.length + 1)}:${index + 1}: “${phrase}”`];
      }),
  );

for (const finding of findings) console.error(finding);
if (findings.length > 0) {
  console.error(`check-language: ${findings.length} phrases to replace; docs/develop/glossary.md has the terms to use`);
  process.exitCode = 1;
}
