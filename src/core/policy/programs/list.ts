import { BUILTINS } from './builtins.js';
import { COMPILERS } from './compilers.js';
import { DEVELOPMENT } from './development.js';
import { FILES } from './files.js';
import { GIT } from './git.js';
import { INTERPRETERS } from './interpreters.js';
import { NETWORK } from './network.js';
import { READING } from './reading.js';
import type { ProgramSpec } from './spec.js';
import { SYSTEM } from './system.js';

/** Every table. A new one is a file beside these, and a line here. */
const TABLES = [READING, FILES, NETWORK, SYSTEM, DEVELOPMENT, COMPILERS, INTERPRETERS, GIT, BUILTINS];

const PROGRAMS: ReadonlyMap<string, ProgramSpec> = new Map(TABLES.flatMap((table) => Object.entries(table)));

/** What is known of a program; undefined when it is in no table. */
export const findProgram = (name: string): ProgramSpec | undefined => PROGRAMS.get(name);

const OWN: ReadonlySet<string> = new Set(Object.keys(BUILTINS));

/** Whether shells do it themselves: no program of that name on PATH comes in its place. */
export const isBuiltin = (name: string): boolean => OWN.has(name);
