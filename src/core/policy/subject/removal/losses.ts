import type { Directory } from '../../model/facts.js';
import type { Loss } from '../../model/finding.js';
import { baseName, isWithin } from '../../paths/paths.js';
import type { Argument } from '../../words/argument.js';

/** Programs that remove links, and never what they lead to. */
const UNLINKING: ReadonlySet<string> = new Set(['rm', 'rmdir', 'unlink']);

/** The command that causes a loss. */
export interface LossContext {
  readonly program: string | undefined;
  readonly workspace: string;
  /** Whether the text runs it itself: not by another program, which may run it later, or on another machine. */
  readonly isDirect: boolean;
  /** Whether directories of git stay as they are. */
  readonly sparesGit: boolean;
}

/**
 * Returns what of an argument a checkpoint of the workspace can bring back.
 * @param paths the possible paths of the argument
 * @returns undefined when a part of it is not in the workspace, or not known
 */
export function lossesOf(
  argument: Argument,
  paths: readonly Directory[],
  { program = '', workspace, isDirect, sparesGit }: LossContext,
): readonly Loss[] | undefined {
  if (!isDirect || !isClear(argument, program)) return undefined;
  const isInside = (path: Directory): path is string =>
    path !== undefined && isWithin(path, workspace) && (sparesGit || path !== workspace);
  const inside = paths.filter(isInside);
  return inside.length === paths.length ? inside.map((path) => ({ path, sparesGit })) : undefined;
}

/** Whether an argument names one path, or is a pattern of files that are removed themselves. */
const isClear = ({ isGlob, isSample, maySplit, shape }: Argument, program: string): boolean =>
  !isSample && !maySplit && (!isGlob || (UNLINKING.has(program) && isPlainPattern(shape)));

/** Whether a pattern is only in the last component, and matches no hidden names. */
const isPlainPattern = (shape: string): boolean => !/[*?[{(].*\//.test(shape) && !/^\.|[({]/.test(baseName(shape));
