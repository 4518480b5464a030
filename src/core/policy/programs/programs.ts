import { ProgramCatalog } from '../family/program-catalog.js';
import type { ProgramFamily } from '../family/program-family.js';
import { AGENTS } from './agents/family.js';
import { BUILTINS } from './builtins/family.js';
import { COMPILERS } from './compilers/family.js';
import { CONTAINERS } from './containers/family.js';
import { DATABASES } from './databases/family.js';
import { DEVELOPMENT } from './development/family.js';
import { EDITORS } from './editors/family.js';
import { FILES } from './files/family.js';
import { GIT } from './git/family.js';
import { INTERPRETERS } from './interpreters/family.js';
import { LAUNCHERS } from './launchers/family.js';
import { NETWORK } from './network/family.js';
import { READING } from './reading/family.js';
import { SHELLS } from './shells/family.js';
import { SYSTEM } from './system/family.js';

/** All families. A new family needs a folder beside this file and an entry here. */
export const FAMILIES: readonly ProgramFamily[] = [
  ...[SHELLS, BUILTINS, LAUNCHERS, READING, FILES, EDITORS, GIT],
  ...[NETWORK, SYSTEM, DEVELOPMENT, COMPILERS, INTERPRETERS, DATABASES, CONTAINERS, AGENTS],
];

/** Everything that is known about programs. */
export const PROGRAMS = new ProgramCatalog(FAMILIES);
