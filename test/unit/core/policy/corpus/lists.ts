import { readFileSync } from 'node:fs';

/** A command, from the part of it that varies. */
export type Way = (subject: string) => string;

/** Named lists of a file of texts. */
export interface Lists {
  /** The lines below `=== name`: one command each, in which `⏎` is a new line. */
  readonly lines: (name: string) => readonly string[];
  /** Such lines as ways to write something, for which `§` stands. */
  readonly waysOf: (name: string) => readonly Way[];
}

/** Reads the lists of a file beside this one. */
export function readLists(file: string): Lists {
  const text = readFileSync(new URL(`${file}.txt`, import.meta.url), 'utf8');
  const sections = new Map(
    text
      .split(/^=== /m)
      .slice(1)
      .map((section) => {
        const [name = '', ...rest] = section.split('\n');
        return [name, rest.filter((line) => line !== '').map((line) => line.replaceAll('⏎', '\n'))];
      }),
  );
  const lines = (name: string): readonly string[] => {
    const found = sections.get(name);
    if (!found) throw new Error(`${file}.txt has no list named ${name}`);
    return found;
  };
  return { lines, waysOf: (name) => lines(name).map((line) => (subject) => line.replaceAll('§', () => subject)) };
}

/** How often each way and each subject occur at least, unless all combinations are asked for. */
const ROUNDS = 2;

/**
 * Combines ways with subjects: each of them several times, so that a gap in one of them shows within seconds. With
 * CORPUS=all in the environment, every way with every subject.
 */
export function combine(ways: readonly Way[], subjects: readonly string[]): readonly string[] {
  if (process.env['CORPUS'] === 'all') return ways.flatMap((way) => subjects.map((subject) => way(subject)));
  const length = Math.max(ways.length, subjects.length);
  const chosen = new Set<string>();
  for (let round = 0; round < Math.min(ROUNDS, ways.length, subjects.length); round += 1) {
    for (let at = 0; at < length; at += 1) {
      const way = ways[at % ways.length];
      // Another offset in each round and each turn, so that other pairs meet.
      const subject = subjects[(at + round * STRIDE + Math.floor(at / subjects.length)) % subjects.length];
      if (way && subject !== undefined) chosen.add(way(subject));
    }
  }
  return [...chosen];
}

/** Distance between the subjects that a way meets in two rounds. */
const STRIDE = 7;
