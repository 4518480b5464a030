import { findRuleFaults, type TestedRule } from '../policy/decision/rule-tests.js';
import { factsOfFreshShell } from '../policy/model/facts.js';
import { directoryOf, normalizePath } from '../policy/paths/paths.js';
import { quoteWords } from './shape.js';

/** The words of a covered command, and the place in which it runs. */
export interface CoveredWords {
  readonly words: readonly string[];
  /** Indexes of the words that may name another file of the same directory, with the same extension. */
  readonly fileOperands: readonly number[];
  /** Absolute path of the directory in which the command runs. */
  readonly directory: string;
  /** Absolute paths that the command names. Empty for a command that names none. */
  readonly paths: readonly string[];
}

/**
 * Writes a covered command as a rule of the policy: `program` and `regex` match the whole command, `path` a path that it
 * names. Its tests are the command itself, and the command with other arguments, which must not match.
 */
export function ruleOf({ words, fileOperands, paths, ...place }: CoveredWords): TestedRule {
  const [program = '', ...args] = words;
  const text = quoteWords(words);
  const expression = [program, ...args].map((word, index) => expressionOf(word, fileOperands.includes(index)));
  const [operand] = fileOperands.map((index) => words[index] ?? '');
  return {
    action: 'allow',
    program: [program],
    regex: String.raw`\A${expression.join(' ')}\z`,
    ...(paths.length > 0 && {
      path: operand === undefined ? paths : [globBeside(operand, place.directory)],
    }),
    match: [text],
    not_match: [`${text} --force`, `${text} /`, `${program}x ${quoteWords(args)}`],
    reason: `a remembered approval: ${text}`,
  };
}

/**
 * Runs the tests of a rule, and those of one command.
 * @param words a command to which it must apply
 * @returns the first problem; undefined when there is none
 */
export function findRuleProblem(rule: TestedRule, directory: string, words?: readonly string[]): string | undefined {
  const tested = words ? { ...rule, match: [...(rule.match ?? []), quoteWords(words)] } : rule;
  const facts = factsOfFreshShell(directory, { directories: [directory] });
  if (!rule.match?.length || !rule.not_match?.length)
    return 'its rule has no tests: `match` and `not_match` are needed';
  if (rule.action !== 'allow') return 'its rule allows nothing';
  return findRuleFaults(tested, facts)[0]?.message;
}

const escape = (text: string): string => text.replace(/[\\^$.|+*?()[\]{}]/g, String.raw`\$&`);

const extensionOf = (word: string): string => word.slice(word.lastIndexOf('.'));

const expressionOf = (word: string, isFile: boolean): string =>
  isFile ? String.raw`[\w./+@-]*${escape(extensionOf(word))}` : escape(word);

function globBeside(operand: string, directory: string): string {
  const path = normalizePath(operand, directory);
  return `${directoryOf(path)}/*${extensionOf(path)}`;
}
