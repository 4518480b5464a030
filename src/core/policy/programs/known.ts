import { FOREIGN_SHELLS, SHELLS } from '../words/program-name.js';
import { WRAPPERS } from './wrappers.js';
import { findProgram } from './list.js';

/** Whether the policy's tables contain a program name. */
export const isKnownProgram = (name: string): boolean =>
  SHELLS.has(name) || FOREIGN_SHELLS.has(name) || Object.hasOwn(WRAPPERS, name) || findProgram(name) !== undefined;
