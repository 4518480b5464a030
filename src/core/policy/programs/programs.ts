import { ProgramCatalog, type ProgramFamily } from '../program-catalog.js';
import { BUILTINS } from './builtins.js';
import { COMPILERS } from './compilers.js';
import { CONTAINERS } from './containers.js';
import { DATABASES } from './databases.js';
import { AGENTS, DEVELOPMENT } from './development.js';
import { FILES } from './files.js';
import { GIT } from './git.js';
import { INTERPRETERS } from './interpreters.js';
import { LAUNCHERS } from './launchers.js';
import { NETWORK } from './network.js';
import { READING } from './reading.js';
import { EDITORS, SHELLS } from './shells.js';
import { SYSTEM } from './system.js';

export const FAMILIES: readonly ProgramFamily[] = [
  ...[SHELLS, BUILTINS, LAUNCHERS, READING, FILES, EDITORS, GIT],
  ...[NETWORK, SYSTEM, DEVELOPMENT, COMPILERS, INTERPRETERS, DATABASES, CONTAINERS, AGENTS],
];

export const PROGRAMS = new ProgramCatalog(FAMILIES);
