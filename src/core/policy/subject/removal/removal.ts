import {
  type AnalysisFacts,
  entryOf,
  isCritical,
  isRawDevice,
  isScratchFile,
  kindOfEntry,
  mayBeCritical,
} from '../../paths/path-kinds.js';
import type { CommandClass } from '../../model/classes.js';
import { isWithin } from '../../paths/paths.js';
import { WRITING } from '../../paths/writing.js';
import { type Argument, UNKNOWN } from '../../words/argument.js';
import { shorten } from '../../words/shown-text.js';
import { TEMPORARY } from '../../words/variables/variables.js';

/** The part of an analysis that takes the findings. */
interface RemovalAnalysis {
  readonly inquiry: { readonly facts: AnalysisFacts };
  add(commandClass: CommandClass, reason: string): void;
  addDeleted(reason: string, path: string, argument: Argument): void;
  addFatal(reason: string): void;
}

/** How something is removed. */
interface Removal {
  /** Description of what the command does to it, such as `rm deletes`. */
  readonly what: string;
  readonly isRecursive: boolean;
}

/** Adds findings for a path that is deleted or moved away. */
export function judgeRemoval(
  subject: RemovalAnalysis,
  path: string,
  argument: Argument,
  { what, isRecursive }: Removal,
): void {
  const { facts } = subject.inquiry;
  if (isRecursive && isEssential(path, argument, facts))
    subject.addFatal(`${what} a directory on which everything depends: ${path}`);
  else if (isRawDevice(path)) subject.addFatal(`${what} a disk: ${path}`);
  else if (argument.isSample && isWithin(path, TEMPORARY))
    subject.add('write', `${what} a temporary file that it has created`);
  else if (!isRecursive && isScratchFile(path, facts, argument.isGlob))
    subject.add('write', `${what} a scratch file: ${path}`);
  else subject.addDeleted(`${what} ${path}`, path, argument);
  const { class: commandClass, what: place } = WRITING[kindOfEntry(path, facts)];
  if (commandClass === 'persistence') subject.add('persistence', `${place}: ${path}`);
}

/** The reason of a finding about a removed path that is known only at run time. */
export function describeUnknownRemoval({ shape, text }: Argument, what: string): string {
  const hasNoKnownName = shape.replaceAll(UNKNOWN, '').replace(/^\/*(?:\*|\.)?\/*$/, '') === '';
  const empty = hasNoKnownName && shape.includes('/') ? ', and is / if its unknown part is empty' : '';
  return `${what} a path that is known only at run time${empty}: ${shorten(text)}`;
}

/** Whether deleting the directory entry would break the machine. */
const isEssential = (path: string, { isGlob }: Argument, facts: AnalysisFacts): boolean =>
  [path, entryOf(path, facts)].some((entry) => (isGlob ? mayBeCritical(entry, facts) : isCritical(entry, facts)));
