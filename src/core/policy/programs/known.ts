import { FOREIGN_SHELLS, SHELLS } from '../words/program-name.js';
import { WRAPPERS } from './wrappers.js';
import { findProgram } from './list.js';

/** Whether the policy has the name of a program in its tables. */
export const isKnownProgram = (name: string): boolean =>
  SHELLS.has(name) || FOREIGN_SHELLS.has(name) || Object.hasOwn(WRAPPERS, name) || findProgram(name) !== undefined;
