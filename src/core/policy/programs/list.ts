import { BUILTINS } from './builtins/table.js';
import { COMPILERS } from './compilers.js';
import { DEVELOPMENT } from './development/table.js';
import { FILES } from './files/table.js';
import { GIT } from './git/table.js';
import { INTERPRETERS } from './interpreters/table.js';
import { NETWORK } from './network/table.js';
import { READING } from './reading.js';
import type { ProgramSpec } from '../subject/program-spec.js';
import { SYSTEM } from './system/table.js';

/** All tables. A new table needs a file in this directory and an entry here. */
const TABLES = [READING, FILES, NETWORK, SYSTEM, DEVELOPMENT, COMPILERS, INTERPRETERS, GIT, BUILTINS];

const PROGRAMS: ReadonlyMap<string, ProgramSpec> = new Map(TABLES.flatMap((table) => Object.entries(table)));

/** Spec of a program; undefined when it is in no table. */
export const findProgram = (name: string): ProgramSpec | undefined => PROGRAMS.get(name);

const OWN: ReadonlySet<string> = new Set(Object.keys(BUILTINS));

/** Whether shells run it internally, so that no program of that name on PATH replaces it. */
export const isBuiltin = (name: string): boolean => OWN.has(name);
