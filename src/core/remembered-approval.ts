import { type Command, parse } from 'unbash';
import type { ConfirmationMode } from './confirmation.js';
import type { PolicyRequest } from './policy/analysis/inspect.js';
import type { PolicyVerdict } from './policy/policy.js';
import { findRuleFaults, type TestedRule } from './policy/rules.js';
import { type CommandClass, factsOfFreshShell, POLICY_LIMITS } from './policy/model.js';
import { directoryOf, normalizePath } from './policy/paths.js';
import { readCommand } from './policy/subject/read-command.js';
import type { RememberScope } from './remember-scopes.js';

/** What a remembered approval covers. Plain data, so that it can be stored. */
export interface Coverage {
  /**
   * Canonical form of the request, its place and the files that it names, as JSON. A command is covered only if its
   * form is equal.
   */
  readonly form: string;
  /** The covered command, for people. `DIRECTORY/*.EXTENSION` stands for any file of that kind there. */
  readonly pattern: string;
  /** Reasons that the approver has seen, in canonical form. */
  readonly reasons: readonly string[];
  /** Classes of the commands that needed the confirmation. */
  readonly classes: readonly CommandClass[];
}

/**
 * Whether an approval covers a command: the same form, and neither a reason nor a class that the approver has not seen.
 */
export const covers = (approved: Coverage, now: Coverage): boolean =>
  approved.form === now.form &&
  now.reasons.every((reason) => approved.reasons.includes(reason)) &&
  now.classes.every((name) => approved.classes.includes(name));

/** Part of a token that is remembered with an approval. */
interface ApprovalParty {
  readonly id: string;
  readonly name: string;
}

export interface RememberedApproval extends Coverage {
  readonly id: string;
  readonly scope: RememberScope;
  /** Only commands of this principal are covered. */
  readonly requester: ApprovalParty;
  readonly approver: ApprovalParty;
  /** The mode in which it was given: it is not enough for a stricter one. */
  readonly mode: ConfirmationMode;
  /** Set for the scope `session`. */
  readonly sessionId: string | null;
  readonly directory: string;
  readonly rememberedAt: Date;
  /** Null when no time is set. */
  readonly expiresAt: Date | null;
}

/** How a command can be recognised again. */
type Shape =
  /** One program with its arguments: the words are compared. */
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Several commands, redirections or assignments: the text is compared. */
  | { readonly kind: 'text' };

/** The reason why a command cannot be recognised again. */
export interface Unrecognisable {
  readonly refusal: string;
}

/** Longest command that can be remembered, in characters. */
const MAX_LENGTH = 4096;

/** Characters and words whose meaning depends on the moment, also within quotes: an inner shell may read them. */
const VARYING: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  { pattern: /\$/, what: 'a variable or substitution ($)' },
  { pattern: /`/, what: 'a command substitution (`)' },
  { pattern: /<</, what: 'a here-document (<<)' },
  { pattern: /[<>=]\(/, what: 'a process substitution' },
  { pattern: /[*?[]|[@+!]\(/, what: 'a pattern of file names (*, ?, [)' },
  { pattern: /~/, what: 'a home directory (~): write the path in full' },
  { pattern: /(?:^|\s)%/, what: 'the number of a job (%)' },
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  { pattern: /[\0-\x08\x0b-\x1f\x7f]/, what: 'a control character' },
];

/** Characters with which zsh makes further patterns. */
const VARYING_IN_ZSH = /[(^#]|<\d*-\d*>|(?:^|\s)=/;

/**
 * Reads how a command can be recognised again.
 * @param shell name of the shell that runs it
 */
export function readShape(request: PolicyRequest, verdict: PolicyVerdict, shell: string): Shape | Unrecognisable {
  const refusal = findVarying(request, shell) ?? findUnknown(request, verdict);
  if (refusal !== undefined) return { refusal };
  const { command, args } = request;
  if (args) return { kind: 'words', words: [command, ...args] };
  // Not every shell expands braces.
  const words = command.includes('{') ? undefined : wordsOf(command);
  return words ? { kind: 'words', words } : { kind: 'text' };
}

/** Finds a reason why the effect of a command is not known from its request. */
function findUnknown(
  { stdin_stream: isStreamed, env = {} }: PolicyRequest,
  verdict: PolicyVerdict,
): string | undefined {
  if (isStreamed === true) return 'its standard input arrives while it runs';
  if (env['PATH'] !== undefined) return 'it sets PATH';
  if (verdict.isUnparsable) return 'the policy cannot read its text';
  if (verdict.takesTyping) return 'it executes what is typed while it runs';
  const classes = [verdict.class, ...verdict.causes, ...verdict.commands.map((command) => command.class)];
  if (verdict.hasUnknowns || classes.includes('obfuscated')) return 'a part of its effect is known only when it runs';
  const isAll =
    verdict.reasons.length < POLICY_LIMITS.maxReasons && verdict.commands.length < POLICY_LIMITS.maxCommands;
  return isAll ? undefined : 'it does too many things';
}

function findVarying({ command, args = [], stdin = '' }: PolicyRequest, shell: string): string | undefined {
  const texts = [command, ...args, stdin];
  if (texts.some(({ length }) => length > MAX_LENGTH)) return `it is longer than ${MAX_LENGTH} characters`;
  const found = VARYING.find(({ pattern }) => texts.some((text) => pattern.test(text)));
  if (found) return `it contains ${found.what}, which may mean something else the next time`;
  const isZshPattern = shell === 'zsh' && texts.some((text) => VARYING_IN_ZSH.test(text));
  return isZshPattern ? 'it contains a pattern of zsh, which may mean something else the next time' : undefined;
}

/** The words of a text that is one program with its arguments; undefined for any other text. */
function wordsOf(text: string): readonly string[] | undefined {
  const { commands, errors } = parse(text);
  const [statement, ...others] = commands;
  if (!statement || others.length > 0 || errors?.length || statement.background === true) return undefined;
  if (statement.command.type !== 'Command' || !isPlain(statement.command)) return undefined;
  const { name, args } = readCommand(statement.command, text, () => undefined, undefined);
  const words = [name, ...args].map((word) => word?.value);
  return words.every((word) => word !== undefined) ? words : undefined;
}

/** Whether a command has neither assignments nor redirections. */
const isPlain = ({ name, prefix, redirects, suffix }: Command): boolean =>
  name !== undefined && prefix.length === 0 && redirects.length === 0 && suffix.every(({ type }) => type === 'Word');

/** Programs whose operands are files that are treated alike, whichever it is. */
const FILE_PROGRAMS: ReadonlySet<string> = new Set(['rm', 'unlink', 'touch', 'chmod']);

/**
 * Indexes of the words that may name another file: operands of a program such as `rm`. They are names of files within
 * one directory and end with the same extension.
 */
export function findFileOperands([program = '', ...args]: readonly string[]): readonly number[] {
  if (!FILE_PROGRAMS.has(program)) return [];
  return args.flatMap((arg, index) => (FILE_OPERAND.test(arg) && !PARENT.test(arg) ? [index + 1] : []));
}

/** A path that ends in a plain name with an extension: no option, no hidden file. */
const FILE_OPERAND = /^(?!-)(?:[\w./+@-]*\/)?\w[\w+@-]*\.\w[\w.-]*$/;

const PARENT = /(?:^|\/)\.\.(?:\/|$)/;

/** A text that a shell reads as these words. */
export const quoteWords = (words: readonly string[]): string => words.map(quoteWord).join(' ');

const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

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
