import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';
import { z } from 'zod';

const FOLDER = fileURLToPath(new URL('./verdicts', import.meta.url));

const row = z.union([
  z.string().transform((command) => ({ command })),
  z.strictObject({ command: z.string(), args: z.array(z.string()).optional(), cwd: z.string().optional() }),
]);

const table = z.strictObject({
  title: z.string(),
  plain: z.string().nullable(),
  rows: z.array(row).min(1),
});

/** A command that is asked about with `check_command`. */
export interface VerdictRow {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
}

/** Spellings of one kind of attack, from a file of `verdicts/`. */
export interface VerdictTable {
  /** Name of the file. */
  readonly name: string;
  readonly title: string;
  /**
   * The same effect in the open. A daemon that allows it has been configured to: then the other spellings show nothing. Null for
   * commands that must not be asked about.
   */
  readonly plain: string | null;
  readonly rows: readonly VerdictRow[];
}

/** Reads the tables, in the order of their names. */
export const readVerdictRows = (): readonly VerdictTable[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => ({
      name: basename(name, '.yaml'),
      ...table.parse(parse(readFileSync(join(FOLDER, name), 'utf8'))),
    }));
