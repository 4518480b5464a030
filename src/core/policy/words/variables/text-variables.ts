import { type Word } from 'unbash';

import { type KnownValue } from '../argument.js';
import type { ProgramKnowledge } from '../program-knowledge.js';

/** A value that a text gives to a variable, and the range of the text in which it is valid. */
export interface Definition extends KnownValue {
  /** The word that is expanded at `at` to give the value, if there is one. */
  readonly word?: Word;
  readonly at?: number;
  readonly from: number;
  readonly to: number;
}

/** The effects of a text on variables. */
export interface TextVariables {
  readonly definitions: ReadonlyMap<string, Definition>;
  /** No variable has a certain value any more. */
  readonly areSpoiled: boolean;
  /** Whether the name of a program may be an alias, a function or a file here. */
  readonly isOwnName: (name: string) => boolean;
  /** Whether a file of this name has a meaning of its own, wherever it is. */
  readonly isSpecialFile: (name: string) => boolean;
  readonly programs: ProgramKnowledge;
  /** Cache of values that were already computed. */
  readonly made: Map<Definition, KnownValue | undefined>;
}
