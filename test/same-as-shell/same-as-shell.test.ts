import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, test } from 'vitest';

import {
  type Exception,
  pruneExceptions,
  readExceptions,
  readScripts,
  type Script,
  SHELLS,
  type ShellName,
  type Way,
} from './corpus.js';
import { differingParts, type Outcome } from './outcome.js';
import { Runs, RUNS_AT_A_TIME } from './runs.js';

/** The folder of the scripts: SCRIPTS=DIR runs those of another folder. */
const FOLDER = process.env['SCRIPTS'] ?? fileURLToPath(new URL('.', import.meta.url));
/** Only the scripts whose titles have this text. */
const ONLY = process.env['SCRIPT'];
/** REPORT=FILE writes all differences, also those of the table, each with what the shell alone and the daemon give. */
const REPORT = process.env['REPORT'];

/** PRUNE=1 takes entries out of the table whose scripts no longer differ. */
const PRUNES = process.env['PRUNE'] !== undefined;

const exceptions = readExceptions(FOLDER);
const reports: string[] = [];

/** A script that differs. */
interface Difference {
  readonly script: Script;
  readonly way: Way;
  readonly parts: string;
  readonly expected: Outcome;
  readonly actual: Outcome;
}

describe.concurrent('the daemon runs a script as its shell does', () => {
  test.for(SHELLS)('%s', async (shell) => {
    const scripts = readScripts(FOLDER, shell).filter(({ title }) => ONLY === undefined || title.includes(ONLY));
    if (scripts.length === 0 || spawnSync(shell, ['-c', ':']).status !== 0) return;
    await using runs = await Runs.start(shell);
    const differences = await findDifferences(runs, scripts);
    report(shell, scripts, differences);
    const titles = new Set(scripts.map(({ title }) => title));
    const listed = exceptions.filter(
      (entry) => entry.shell === shell && (ONLY === undefined || titles.has(entry.title)),
    );
    const isStale = ({ title, way }: Exception) =>
      !differences.some((difference) => difference.script.title === title && difference.way === way);
    if (PRUNES) pruneExceptions(FOLDER, listed.filter(isStale));
    const found = problems(differences, PRUNES ? listed.filter((entry) => !isStale(entry)) : listed);
    if (found.length > 0)
      throw new Error(`${found.length} scripts are not as they should be:\n\n${found.join('\n\n')}`);
  });
});

async function findDifferences(runs: Runs, scripts: readonly Script[]): Promise<Difference[]> {
  const differences: Difference[] = [];
  const remaining = scripts.values();
  const worker = async () => {
    for (const script of remaining) {
      const expected = await runs.alone(script);
      for (const way of runs.ways) {
        const actual = await runs.daemon(way, script);
        const parts = differingParts(way, expected, actual).join(', ');
        if (parts !== '') differences.push({ script, way, parts, expected, actual });
      }
    }
  };
  await Promise.all(Array.from({ length: RUNS_AT_A_TIME }, worker));
  return differences;
}

/** What is not as the table says. */
function problems(differences: readonly Difference[], listed: readonly Exception[]): string[] {
  const found: string[] = [];
  for (const difference of differences) {
    const { script, way, parts } = difference;
    const entry = listed.find((exception) => exception.title === script.title && exception.way === way);
    if (entry === undefined) found.push(`differs, and is not in exceptions.txt:\n${shown(difference)}`);
    else if (entry.parts !== parts)
      found.push(`exceptions.txt says that “${entry.parts}” differs:\n${shown(difference)}`);
  }
  for (const { title, way, shell } of listed) {
    if (differences.some(({ script, way: ofDifference }) => script.title === title && ofDifference === way)) continue;
    found.push(`is in exceptions.txt, and does not differ: ${shell}, ${way}: ${title}`);
  }
  return found;
}

function shown({ script, way, parts, expected, actual }: Difference): string {
  const lines = (text: string) => {
    const isWhole = text === '' || text.endsWith('\n');
    return `${text}${isWhole ? '' : ' (no newline)'}`.replace(/^(?=.|\n)/gm, '  | ').trimEnd();
  };
  const ofPart = (name: string, [alone, ours]: readonly [string, string]) =>
    alone === ours
      ? [`${name}, the same:`, lines(alone)]
      : [`${name} of the shell alone:`, lines(alone), `${name} of the ${way}:`, lines(ours)];
  return [
    `## ${script.title}`,
    script.text,
    `-- ${way}: ${parts}; exit code of the shell alone ${expected.exitCode}, of the ${way} ${actual.exitCode}`,
    ...ofPart('stdout', [expected.stdout, actual.stdout]),
    ...ofPart('stderr', [expected.stderr, actual.stderr]),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function report(shell: ShellName, scripts: readonly Script[], differences: readonly Difference[]): void {
  if (REPORT === undefined) return;
  for (const way of ['one-shot', 'session'] as const) {
    const ofWay = differences.filter((difference) => difference.way === way);
    const counts = (['stdout', 'exit code', 'stderr'] as const).map(
      (part) => `${part} ${ofWay.filter(({ parts }) => parts.includes(part)).length}`,
    );
    reports.push(
      `# ${shell}, ${way}: ${ofWay.length} of ${scripts.length} scripts differ (${counts.join(', ')})`,
      ofWay.map(({ parts, script }) => `${parts}: ${script.title}`).join('\n'),
      ...ofWay.map(shown),
    );
  }
  writeFileSync(REPORT, `${reports.join('\n\n')}\n`);
}
