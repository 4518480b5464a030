// Counts what makes the source hard to hold in the head: small files that one other file imports, folders of few files, and interfaces
// that only pass options on. None of the numbers may grow: `house-budget.json` has the most, and is lowered with each commit that
// makes one smaller. `--list` names what is counted, `--lower` writes lower numbers into the budget.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** A file with fewer lines of code, without comments, imports and blank lines, is small. */
const SMALL_LINES = 60;
/** A folder has at least so many files. */
const FOLDER_FILES = 4;

const scripts = dirname(fileURLToPath(import.meta.url));
const root = join(scripts, '..');
const budgetFile = join(scripts, 'house-budget.json');

const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true }).flatMap((entry) =>
  entry.isFile() ? [relative(root, join(entry.parentPath, entry.name))] : [],
);
const texts = new Map(
  files.filter((file) => /\.(?:ts|tsx|mts)$/.test(file)).map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);

/** Lines without comments, imports, re-exports and blank lines. */
function codeLines(text) {
  const code = text
    .replace(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/^(?:import\b(?!\()|export (?:type )?(?:\{|\*))[\s\S]*?from '[^']+';$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

/** The files that import a file, by its path. */
function findImporters() {
  const importers = new Map([...texts.keys()].map((file) => [file, new Set()]));
  for (const [file, text] of texts) {
    for (const [, target] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const base = normalize(join(dirname(file), target)).replace(/\.m?js$/, '');
      for (const ending of ['.ts', '.tsx', '.mts']) importers.get(base + ending)?.add(file);
    }
  }
  return importers;
}

function smallFiles() {
  const importers = findImporters();
  return [...texts].flatMap(([file, text]) => {
    const [importer, ...others] = importers.get(file);
    return importer && others.length === 0 && codeLines(text) < SMALL_LINES ? [`${file}, imported by ${importer}`] : [];
  });
}

function smallFolders() {
  const counts = new Map();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) => (count < FOLDER_FILES ? [`${folder}, ${count} files`] : []));
}

const BAG = /^\s*(?:export )?interface (\w*(?:Options|Context|Dependencies|Parts|Guards|Surroundings|Port))\b/gm;
const optionBags = () =>
  [...texts].flatMap(([file, text]) => [...text.matchAll(BAG)].map(([, name]) => `${name} in ${file}`));

const found = {
  small_files_with_one_importer: smallFiles(),
  folders_of_few_files: smallFolders(),
  bags_of_options: optionBags(),
};

const { values: options } = parseArgs({ options: { list: { type: 'boolean' }, lower: { type: 'boolean' } } });
const budget = JSON.parse(readFileSync(budgetFile, 'utf8'));
let isOver = false;
let isUnder = false;
for (const [figure, entries] of Object.entries(found)) {
  const most = budget[figure];
  console.log(`${figure.padEnd(32)} ${String(entries.length).padStart(4)} of ${most}`);
  if (options.list) for (const entry of entries) console.log(`  ${entry}`);
  isOver ||= entries.length > most;
  isUnder ||= entries.length < most;
}
if (isOver) {
  console.error(
    'check:house: a number has grown. Merge into the importer, or pass collaborators as they are: see CONTRIBUTING.md',
  );
  process.exitCode = 1;
} else if (isUnder && options.lower) {
  const lower = Object.fromEntries(Object.entries(found).map(([figure, entries]) => [figure, entries.length]));
  writeFileSync(budgetFile, `${JSON.stringify(lower, undefined, 2)}\n`);
} else if (isUnder) {
  console.error(
    'check:house: a number is lower than the budget: run `npm run check:house -- --lower`, and commit the budget',
  );
  process.exitCode = 1;
}
