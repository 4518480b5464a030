// Checks Markdown pages: relative links and anchors lead somewhere, and sentences of the manual are short. Prints what is wrong,
// one line each, and exits with 1 then. Usage: node scripts/check-markdown.mjs [FOLDER], by default the repository.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The longest sentence, in words. */
const MAX_WORDS = 35;
/** The pages whose sentences are checked: all of docs/ that is not generated. */
const MANUAL = /^(?:README|CONTRIBUTING|SECURITY|docs\/.*)\.md$/;
/** The note at the top of generated pages. */
const GENERATED = '<!-- Generated from ';
const SKIPPED = new Set(['node_modules', 'dist', 'coverage', '.git', '.vitepress', 'api']);

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..'));

/** The paths of all pages below a folder, relative to the root. */
const listPages = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : listPages(path);
    return entry.name.endsWith('.md') ? [relative(root, path)] : [];
  });

/** The lines of a page; those of fenced blocks and comments are empty. */
function readProse(text) {
  let fence = '';
  const lines = text.replaceAll(/<!--.*?-->/gs, (comment) => comment.replaceAll(/[^\n]/g, '')).split('\n');
  return lines.map((line) => {
    const [, marks = ''] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence === '' && marks !== '') fence = marks;
    else if (fence !== '' && line.trim() === fence) fence = '';
    else if (fence === '') return line;
    return '';
  });
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path) {
  const seen = new Map();
  const headings = readProse(readFileSync(path, 'utf8')).flatMap((line) => /^#+ +(.*?)\s*#*$/.exec(line)?.[1] ?? []);
  return headings.map((heading) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = text.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** What is wrong with the target of a link; undefined when it leads somewhere. */
function faultOf(page, target) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined;
  const [path = '', anchor] = decodeURI(target).split('#');
  const file = path === '' ? join(root, page) : resolve(root, dirname(page), path);
  if (relative(root, file).startsWith('..')) return 'leads out of the folder';
  if (!existsSync(file)) return 'there is no such file';
  if (anchor === undefined || statSync(file).isDirectory() || !file.endsWith('.md')) return undefined;
  return anchorsOf(file).includes(anchor) ? undefined : 'there is no such heading';
}

/** Broken links of a page. */
function checkLinks(page, lines) {
  return lines.flatMap((line, index) => {
    const text = line.replaceAll(/(`+).*?\1/g, '');
    const targets = [...text.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)|^\[[^\]]+\]: +(\S+)/g)];
    return targets.flatMap(([, inline, defined]) => {
      const fault = faultOf(page, inline ?? defined);
      return fault === undefined ? [] : [`${page}:${index + 1}: ${inline ?? defined}: ${fault}`];
    });
  });
}

/** The paragraphs, list items, headings and table cells of a page, each with its first line. */
function readTexts(lines) {
  const texts = [];
  let current;
  lines.forEach((line, index) => {
    const begins = /^\s*(?:[-*+]|\d+\.) |^#|^\|/.test(line);
    if (line.trim() === '' || begins) current = undefined;
    if (line.startsWith('|')) for (const cell of line.split('|')) texts.push({ line: index + 1, text: cell });
    else if (line.trim() !== '') {
      if (!current) texts.push((current = { line: index + 1, text: '' }));
      current.text += ` ${line.replace(/^\s*(?:[-*+]|\d+\.) +|^#+ /, '')}`;
    }
  });
  return texts;
}

/** Sentences of a page that are too long. */
function checkSentences(page, lines) {
  return readTexts(lines).flatMap(({ line, text }) => {
    // A link counts as its text, code as one word.
    const plain = text.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/(`+).*?\1/g, 'code');
    const sentences = plain.split(/(?<=[.!?][*_"')\]]*)\s+/);
    return sentences.flatMap((sentence) => {
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
      if (words.length <= MAX_WORDS) return [];
      const start = words.slice(0, 6).join(' ');
      return [`${page}:${line}: a sentence of ${words.length} words; at most ${MAX_WORDS}: ${start} …`];
    });
  });
}

const faults = listPages(root).flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const lines = readProse(text);
  const isManual = MANUAL.test(page) && !text.includes(GENERATED);
  return [...checkLinks(page, lines), ...(isManual ? checkSentences(page, lines) : [])];
});
for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
