import { ProgramCatalog } from '../program-catalog.js';
import type { ProgramFamily } from '../program-family.js';
import { AGENTS } from './agents.js';
import { BUILTINS } from './builtins.js';
import { COMPILERS } from './compilers.js';
import { CONTAINERS } from './containers.js';
import { DATABASES } from './databases.js';
import { DEVELOPMENT } from './development.js';
import { EDITORS } from './editors.js';
import { FILES } from './files.js';
import { GIT } from './git.js';
import { INTERPRETERS } from './interpreters.js';
import { LAUNCHERS } from './launchers.js';
import { NETWORK } from './network.js';
import { READING } from './reading.js';
import { SHELLS } from './shells.js';
import { SYSTEM } from './system.js';

/** All families. A new family needs a folder beside this file and an entry here. */
export const FAMILIES: readonly ProgramFamily[] = [
  ...[SHELLS, BUILTINS, LAUNCHERS, READING, FILES, EDITORS, GIT],
  ...[NETWORK, SYSTEM, DEVELOPMENT, COMPILERS, INTERPRETERS, DATABASES, CONTAINERS, AGENTS],
];

/** Everything that is known about programs. */
export const PROGRAMS = new ProgramCatalog(FAMILIES);
