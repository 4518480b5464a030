import type { Census } from './census.js';
import { type Counts, KILLS } from './counts.js';
import type { SoakReport } from './soak.js';

/** Most by which the memory may be above what it was after the warm-up. */
const MOST_GROWTH = 1.1;
/** One-shots that wait for their command, each with a descriptor and a process: as many may be missing at a look. */
const PREWARMED = 5;
/** The same of files: places of one-shots are used again, and there are as many as have run at a time. */
const MOST_FILES = 2;
/** Looks whose median counts. */
const LOOKS = 3;

/** The judgement on a soak. */
export interface SoakVerdict {
  /** MiB, the median of some looks: after the warm-up, and at the end. */
  readonly memoryMib: { readonly warm: number; readonly end: number };
  readonly descriptors: { readonly warm: number; readonly end: number };
  readonly files: { readonly warm: number; readonly end: number };
  /** What is wrong; empty if nothing is. */
  readonly problems: readonly string[];
}

/** Judges what a soak has found: nothing may be left, and nothing may have grown. */
export function judge({ warm, leftovers, exit, faults }: SoakReport): SoakVerdict {
  // The first looks must not be the last ones as well: a short soak has few of them.
  const looks = Math.max(1, Math.min(LOOKS, Math.floor(warm.length / 2)));
  const of = (field: 'memoryMib' | 'descriptors' | 'files') => ({
    warm: median(warm.slice(0, looks).map((census) => census[field])),
    end: median(warm.slice(-looks).map((census) => census[field])),
  });
  const [memoryMib, descriptors, files] = [of('memoryMib'), of('descriptors'), of('files')];
  const { zombies = 0 } = warm.at(-1) ?? {};
  const left = Object.entries(leftovers).flatMap(([kind, found]: [string, readonly string[]]) =>
    found.map((what) => `left behind, ${kind}: ${what}`),
  );
  const problems = [
    ...left,
    ...faults,
    ...(exit === 0 ? [] : [`the daemon ended with ${exit}`]),
    ...(memoryMib.end <= memoryMib.warm * MOST_GROWTH ? [] : ['the memory has grown by more than 10 %']),
    ...(descriptors.end <= descriptors.warm + PREWARMED ? [] : ['descriptors were not closed']),
    ...(zombies === 0 ? [] : [`${zombies} children were not waited for`]),
    ...(files.end <= files.warm * MOST_FILES ? [] : ['files were not removed']),
  ];
  return { memoryMib, descriptors, files, problems };
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;

/** A line of progress. */
export function lineOf(census: Census, counts: Counts): string {
  const cells = [
    `${census.minute.toFixed(1).padStart(6)} min`,
    `${String(counts.of('commands')).padStart(6)} commands`,
    `${String(counts.of(KILLS)).padStart(5)} kills`,
    `${census.memoryMib.toFixed(0).padStart(5)} MiB`,
    `${String(census.descriptors).padStart(4)} descriptors`,
    `${String(census.processes).padStart(3)} processes`,
    `${String(census.files).padStart(4)} files`,
    `pid ${census.pid}`,
  ];
  return cells.join('  ');
}

/** The report for people. */
export function textOf(report: SoakReport, verdict: SoakVerdict): string {
  const rows = Object.entries(report.counts.toJSON());
  const change = ({ warm, end }: { warm: number; end: number }) =>
    `${warm.toFixed(0)} after the warm-up, ${end.toFixed(0)} at the end`;
  return [
    `soak of ${report.minutes} min, seed ${report.seed}`,
    ...rows.map(([what, count]) => `  ${what.padEnd(40)} ${String(count).padStart(7)}`),
    ...(report.noFullDisk === null ? [] : [`  the disk was never full: ${report.noFullDisk}`]),
    `  memory in MiB: ${change(verdict.memoryMib)}`,
    `  descriptors: ${change(verdict.descriptors)}`,
    `  files: ${change(verdict.files)}`,
    ...(verdict.problems.length === 0
      ? ['nothing was left behind']
      : verdict.problems.map((problem) => `PROBLEM: ${problem}`)),
  ].join('\n');
}
