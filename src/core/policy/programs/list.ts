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

/** Every table. A new one is a file beside these, and a line here. */
const TABLES = [READING, FILES, NETWORK, SYSTEM, DEVELOPMENT, COMPILERS, INTERPRETERS, GIT, BUILTINS];

const PROGRAMS: ReadonlyMap<string, ProgramSpec> = new Map(TABLES.flatMap((table) => Object.entries(table)));

/** What is known of a program; undefined when it is in no table. */
export const findProgram = (name: string): ProgramSpec | undefined => PROGRAMS.get(name);

const OWN: ReadonlySet<string> = new Set(Object.keys(BUILTINS));

/** Whether shells do it themselves: no program of that name on PATH comes in its place. */
export const isBuiltin = (name: string): boolean => OWN.has(name);
