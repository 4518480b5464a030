import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The shells that have scripts. */
export const SHELLS = ['bash', 'sh', 'zsh', 'fish'] as const;
export type ShellName = (typeof SHELLS)[number];

/** How the daemon runs a script. */
export type Way = 'one-shot' | 'session';

/** A script, by a title that no other script of its shell has. */
export interface Script {
  readonly title: string;
  readonly text: string;
  /** Whether its session gives it an empty stdin, because it reads stdin: that of a session is its terminal. */
  readonly hasEmptyStdin: boolean;
}

/** What may differ. */
export type Part = 'stdout' | 'exit code' | 'stderr';

/** A script that differs, in exactly these parts, and why. */
export interface Exception {
  readonly shell: string;
  readonly way: string;
  readonly title: string;
  readonly parts: string;
  readonly reason: string;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };

/**
 * Reads the scripts of a shell: the files of the folder that are named SHELL.scripts or SHELL-….scripts. `## TITLE` begins a script, and what stands before the first one is a comment. Blank lines
 * at its end do not count, so that its last line has no newline. A title may end in marks: `[escapes]`, the text has \n, \r, \t and \\;
 * `[stdin]`, it reads its stdin.
 */
export function readScripts(folder: string, shell: ShellName): Script[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.scripts') && file.split(/[.-]/, 1)[0] === shell);
  const scripts = files.toSorted().flatMap((file) => parseScripts(readFileSync(join(folder, file), 'utf8')));
  const titles = new Set<string>();
  for (const { title } of scripts) {
    if (titles.has(title)) throw new Error(`two scripts for ${shell} have the title “${title}”`);
    titles.add(title);
  }
  return scripts;
}

function parseScripts(file: string): Script[] {
  const [, ...parts] = `\n${file}`.split(/\n## /);
  return parts.map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    const text = lines.join('\n').replace(/\n+$/, '');
    const [title = ''] = heading.split(/ \[(?:escapes|stdin)\]/, 1);
    const marks = heading.slice(title.length);
    return {
      title,
      text: marks.includes('[escapes]') ? text.replace(/\\([nrt\\])/g, (_, letter: string) => ESCAPES[letter]!) : text,
      hasEmptyStdin: marks.includes('[stdin]'),
    };
  });
}

/**
 * Reads the table of the scripts that differ, `exceptions.txt`, if the folder has it: `## SHELL, WAY: REASON`, and below it a line `PARTS: TITLE` for
 * each script. Lines that begin with `# ` are comments.
 */
export function readExceptions(folder: string): Exception[] {
  const file = join(folder, 'exceptions.txt');
  if (!existsSync(file)) return [];
  const exceptions: Exception[] = [];
  let heading: RegExpExecArray | undefined;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '' || line.startsWith('# ') || line === '#') continue;
    if (line.startsWith('## ')) {
      heading = /^## (\S+), (\S+): (.+)$/.exec(line) ?? undefined;
      if (heading === undefined) throw new Error(`exceptions.txt: “${line}” is not “## SHELL, WAY: REASON”`);
      continue;
    }
    const [, parts, title] = /^([a-z, ]+?): (.+)$/.exec(line) ?? [];
    if (heading === undefined || parts === undefined || title === undefined) {
      throw new Error(`exceptions.txt: “${line}” is not “PARTS: TITLE” below a heading`);
    }
    const [, shell = '', way = '', reason = ''] = heading;
    exceptions.push({ shell, way, title, parts, reason });
  }
  return exceptions;
}

/** Takes entries out of the table, and headings that have no more entries. */
export function pruneExceptions(folder: string, stale: readonly Exception[]): void {
  if (stale.length === 0) return;
  const file = join(folder, 'exceptions.txt');
  const sections = readFileSync(file, 'utf8').split(/^(?=## )/m);
  const remaining = sections.flatMap((section) => {
    const [heading = '', ...lines] = section.split('\n');
    const ofSection = stale.filter(({ shell, way, reason }) => heading === `## ${shell}, ${way}: ${reason}`);
    const kept = lines.filter((line) => !ofSection.some(({ parts, title }) => line === `${parts}: ${title}`));
    return ofSection.length > 0 && kept.every((line) => line === '') ? [] : [[heading, ...kept].join('\n')];
  });
  writeFileSync(file, remaining.join(''));
}
