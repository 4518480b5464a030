import { lstatSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';

import {
  type Coverage,
  type CoveredWords,
  findFileOperands,
  quoteWords,
  readShape,
  type Unrecognisable,
} from '../core/remembered-approval.js';
import type { PolicyRequest } from '../core/policy/analysis/inspect.js';
import type { PolicyVerdict } from '../core/policy/policy.js';
import { isWithin } from '../core/policy/paths.js';
import { isStandardProgram } from '../core/policy/words/program-knowledge.js';
import type { SandboxProfile } from '../core/sandbox-profiles.js';
import { findProgram } from '../engine/shells/list.js';
import { contentOf, realPathOf } from '../engine/system/local-files.js';

/** Where a command was judged. All of it has to be the same for a covered command. */
export interface JudgedPlace {
  /** Absolute path of the directory; undefined when it is not certain. */
  readonly directory: string | undefined;
  /** Name of the shell. */
  readonly shell: string;
  /** Undefined for the profile of one-shot commands. */
  readonly sandbox: SandboxProfile | undefined;
  readonly isOnTerminal: boolean;
  /** Id of the session; undefined for a one-shot command. */
  readonly sessionId: string | undefined;
  /** Why names may have another meaning in the session than on the machine; undefined when they do not. */
  readonly doubt: string | undefined;
}

/** A judged command. */
export interface JudgedRequest {
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  readonly place: JudgedPlace;
}

/** Most paths that a remembered command may name. */
const MAX_PATHS = 256;

/** Facts about the machine. */
export interface Machine {
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** PATH of shells. */
  readonly path: string;
  /** Sandbox of one-shot commands without a wish. */
  readonly sandbox: () => SandboxProfile;
}

/** The coverage of an approval of a command. */
export interface CommandCoverage extends Coverage {
  /** Directory in which the command runs, as the session names it. */
  readonly directory: string;
  /** Set for one program with its arguments: only that can be written as a rule. */
  readonly rule: CoveredWords | undefined;
}

/**
 * Computes what an approval of a command covers, or why it cannot be remembered. Reads the file system: what its paths
 * lead to, and the content of scripts and of programs outside of the system's directories.
 */
export function coverageOf(judged: JudgedRequest, machine: Machine): CommandCoverage | Unrecognisable {
  const { request, verdict, place } = judged;
  const shape = readShape(request, verdict, place.shell);
  if ('refusal' in shape) return shape;
  const { directory } = place;
  if (directory === undefined) return { refusal: 'the session runs another command, which may leave its directory' };
  if (place.doubt !== undefined) return { refusal: place.doubt };
  if (verdict.paths.length + verdict.scripts.length > MAX_PATHS)
    return { refusal: `it names more than ${MAX_PATHS} paths` };
  const words = shape.kind === 'words' ? shape.words : undefined;
  const files = findFiles(words ?? [], directory, machine.workspace);
  const stopped = verdict.commands.filter(({ action }) => action !== 'allow');
  return {
    form: JSON.stringify({
      ...wordsAndInput(request, words, files),
      ...surroundings(judged, directory, machine),
      programs: programsOf(verdict, words?.[0], directory, machine.path),
      paths: verdict.paths.map((path) => [generalize(path, files), generalize(realPathOf(path), files)]),
    }),
    pattern: words ? quotePattern(words, files) : request.command,
    reasons: [...verdict.reasons, ...verdict.commands.flatMap(({ reasons }) => reasons)].map((reason) =>
      generalize(reason, files),
    ),
    classes: [...new Set([verdict.class, ...stopped.map((command) => command.class)])],
    directory,
    rule: words && { words, fileOperands: files.map(({ index }) => index), directory, paths: verdict.paths },
  };
}

const wordsAndInput = (
  { command, args, env = {}, stdin = '' }: PolicyRequest,
  words: readonly string[] | undefined,
  files: readonly FileOperand[],
): object => ({
  words: words?.map((word, index) => files.find((file) => file.index === index)?.kind ?? word),
  text: words ? undefined : command,
  isProgram: args !== undefined,
  env: Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  stdin,
});

const surroundings = ({ verdict, place }: JudgedRequest, directory: string, { sandbox }: Machine): object => ({
  directory: realPathOf(directory),
  shell: place.shell,
  sandbox: place.sandbox ?? sandbox(),
  isOnTerminal: place.isOnTerminal,
  scripts: verdict.scripts.map((path) => [path, contentOf(path)]),
});

/** An operand that may name another file. */
interface FileOperand {
  readonly index: number;
  /** Absolute path of the file. */
  readonly path: string;
  /** Stands for all files that it may name. */
  readonly kind: string;
  /** The operand for people. */
  readonly pattern: string;
}

/** Finds operands that are regular files in the workspace, and not links. */
function findFiles(words: readonly string[], directory: string, workspace: string): readonly FileOperand[] {
  const within = realPathOf(workspace);
  return findFileOperands(words).flatMap((index) => {
    const word = words[index] ?? '';
    const path = resolve(directory, word);
    const parent = realPathOf(dirname(path));
    const isInWorkspace = isWithin(parent, within) && !parent.split('/').some((name) => name.startsWith('.'));
    if (!isInWorkspace || !isRegularFile(path)) return [];
    const kind = `file in ${parent}: *${extname(path)}`;
    return [{ index, path, kind, pattern: `${word.slice(0, -basename(word).length)}*${extname(word)}` }];
  });
}

/** Replaces the varying files in a text. */
const generalize = (text: string, files: readonly FileOperand[]): string =>
  files.reduce(
    (known, { path, kind, index }) =>
      known.replaceAll(path, `<${index} ${kind}>`).replaceAll(realPathOf(path), `<${index} ${kind}>`),
    text,
  );

/** The words for people. The names of the varying files contain no character that needs quotes. */
const quotePattern = (words: readonly string[], files: readonly FileOperand[]): string =>
  words.map((word, index) => files.find((file) => file.index === index)?.pattern ?? quoteWords([word])).join(' ');

function isRegularFile(path: string): boolean {
  try {
    const found = lstatSync(path);
    // A file with several names is also elsewhere.
    return found.isFile() && found.nlink === 1;
  } catch {
    // ENOENT, EACCES: nothing is known about it.
    return false;
  }
}

/** The files that the names of programs lead to, with the content of those that are not the system's. */
function programsOf(
  { commands }: PolicyVerdict,
  calledAs: string | undefined,
  directory: string,
  path: string,
): readonly (readonly string[])[] {
  const names = [calledAs, ...commands.map(({ program }) => program)].filter((name) => name !== undefined);
  return [...new Set(names)].map((name) => {
    const file = name.includes('/') ? resolve(directory, name) : findProgram(name, path);
    const real = file === undefined ? '' : realPathOf(file);
    return [name, real, real === '' || isStandardProgram(real) ? '' : contentOf(real)];
  });
}
