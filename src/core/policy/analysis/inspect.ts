import { parse } from 'unbash';

import { type Effect, findingOf } from '../effects.js';
import { type Finding, type JudgedCommand, POLICY_LIMITS, type PolicyFacts } from '../model.js';
import { type AnalysisFacts, isSecret } from '../path-kinds.js';
import { directoryOf, resolvePath } from '../paths.js';
import type { ProgramCatalog } from '../program-catalog.js';
import { PROGRAMS } from '../programs/programs.js';
import { judgeAssignments } from '../subject/assignments.js';
import { CommandAnalysis } from '../subject/command-analysis.js';
import type { AnalysisContext } from '../words/analysis-context.js';
import {
  literal,
  type Scope,
  shorten,
  type SimpleCommand,
  type Stdin,
  UNKNOWN,
  type VariableLookup,
} from '../words/argument.js';
import { commandsInFish, whyForeign } from '../words/fish-text.js';
import { isOwnFunction } from '../words/saved-state.js';
import { WrittenFiles } from '../words/written-files.js';
import { judgeSimpleCommand } from './judge-command.js';
import { Walk } from './walk.js';

/** A request to analyse. */
export interface PolicyRequest {
  /** Shell text; or a program, when `args` is given. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables that are set for the command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Text that is passed to the command as standard input. */
  readonly stdin?: string | undefined;
  /**
   * Whether input arrives while the command runs, so that it is unknown beforehand. (Named as in `execute_command`.)
   */
  readonly stdin_stream?: boolean | undefined;
}

/** The effects of a request. */
export interface Inspection {
  /** Every simple command, at any depth, in the order in which they were found. */
  readonly commands: readonly JudgedCommand[];
  /** Findings that belong to no single command. */
  readonly notes: readonly Finding[];
  /** Names may have another meaning in the session afterwards. */
  readonly changesNames: boolean;
  /** The parser cannot read the text or a part of it; the shell may also reject it. */
  readonly isUnparsable: boolean;
}

/** The standard input that a request gives its commands. */
function stdinOf({ stdin = '', stdin_stream: isStreamed = false }: PolicyRequest): Stdin | undefined {
  if (isStreamed)
    return { kind: 'unknown', what: 'a streamed standard input, which the policy cannot see', isOfClient: true };
  return stdin === '' ? undefined : { kind: 'text', text: stdin, isCertain: true };
}

/** A rule that a text must meet before it is parsed, and the message when it does not. */
interface PreCheck {
  readonly test: (text: string) => boolean;
  readonly reason: string;
}

const { maxTextLength, maxBlanks, maxHereDocuments } = POLICY_LIMITS;

/** Formats, separators, fillers, and blanks that are not blanks to a shell. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

/** More blanks or empty lines in a row than a text may have. */
const PADDING = new RegExp(`[ \\t]{${maxBlanks + 1}}|\\n[ \\t]*(?:\\n[ \\t]*){${maxBlanks}}`);

/**
 * Conditions that make a text unfit to be judged. With each of these, a reader or the parser sees another command than
 * the shell.
 */
const PRE_CHECKS: readonly PreCheck[] = [
  {
    test: (text) => text.length > maxTextLength,
    reason: `the command is longer than ${maxTextLength} characters: put it into a file`,
  },
  {
    test: (text) => text.includes('\r\n'),
    reason: 'the command has Windows line ends (CR LF): end its lines with LF alone',
  },
  {
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    test: (text) => /[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text),
    reason: 'the command has control characters: write them as escapes, as in printf',
  },
  {
    // Joiners and variation selectors of emoji are valid after other non-ASCII characters.
    test: (text) => INVISIBLE.test(text.replace(/(?<=[^\p{ASCII}])[\ufe0f\u200d]/gu, '')),
    reason: 'the command has invisible or direction-changing characters: leave them out',
  },
  {
    test: (text) => /[\ud800-\udfff]/u.test(text),
    reason: 'the command has half a character (a lone surrogate)',
  },
  {
    test: (text) => PADDING.test(text),
    reason: `the command has more than ${maxBlanks} blanks or empty lines in a row, which hides what follows`,
  },
  {
    test: (text) => text.split('<<', maxHereDocuments + 2).length > maxHereDocuments + 1,
    reason: `the command has more than ${maxHereDocuments} here-documents`,
  },
];

/** The reason why a text cannot be judged; undefined when it can be parsed. */
function findUnfitness(text: string): string | undefined {
  return PRE_CHECKS.find(({ test }) => test(text))?.reason;
}

/** Most words of a text that are looked at. */
const MAX_WORDS = 512;
/** Ends of words, also within expansions: `${f:-~/.ssh/id_rsa}`. */
const SEPARATORS = /[\s;&|()<>=`]+|:[-=+?]|(?<!\w):|\$\{\w+|[{},]+(?=[~/.])|[{}]+$/;

/** Where words may end as well: at braces and commas. */
const ALL_SEPARATORS = /[\s;&|()<>=`{},:]+/;

/**
 * Finds a word in a text that is the path of a file with credentials. Variables and braces in it stand for any name. The
 * words of nested texts are found, too.
 */
function findMentionedSecret(text: string, facts: AnalysisFacts): string | undefined {
  const plain = text.replaceAll(/["'\\]/g, '').replaceAll(/\$\{?HOME[^}/\s]*\}?/g, '~');
  const words = [...plain.split(SEPARATORS), ...plain.split(ALL_SEPARATORS)];
  return words.slice(0, MAX_WORDS).find((word) => isSecretWord(word, facts));
}

function isSecretWord(word: string, facts: AnalysisFacts): boolean {
  const pattern = word.replaceAll(/\{[^}]*\}|\$\w+/g, '*').replace(/[{}]+$/, '');
  if (!/[A-Za-z]{2}|^\.[A-Za-z]/.test(pattern) || /^-/.test(pattern)) return false;
  const path = pattern
    .replace(/^~(?=\/|$)/, facts.home ?? '/home/any')
    .replace(/^~(\w+)/, '/home/$1')
    .replace(/^~\+/, '.');
  const isGlob = /[*?[]/.test(path);
  return resolvePath(path, facts.directories).some((place) => place !== undefined && isSecret(place, facts, isGlob));
}

/** Words that begin grammatical constructs of the shell: an alias with such a name changes how a text is parsed. */
const KEYWORDS =
  'if then else elif fi for while until do done case esac in function select time coproc { } ! [[ ]] foreach end repeat always nocorrect'.split(
    ' ',
  );

/** Analyses the effects of a request from its text alone. Never throws; what exceeds a limit is `obfuscated`. */
export function inspect(request: PolicyRequest, facts: PolicyFacts, programs = PROGRAMS): Inspection {
  const inspector = new Inspector(facts, programs);
  inspector.run(request);
  const { commands, notes, changesNames, isUnparsable } = inspector;
  const mayLink = commands.some(({ program = '' }) => programs.has(program, 'links'));
  const judged = mayLink ? commands.map((command) => withoutDoubtfulLosses(command, facts.workspace)) : commands;
  return { commands: judged, notes, changesNames, isUnparsable };
}

/** What a text deletes below a directory is elsewhere if the text itself puts a link in place of the directory. */
const withoutDoubtfulLosses = (command: JudgedCommand, workspace: string): JudgedCommand => ({
  ...command,
  findings: command.findings.map(({ losses, ...finding }) => {
    const isCertain = losses?.every(({ path, sparesGit }) => sparesGit || directoryOf(path) === workspace) === true;
    return isCertain ? { ...finding, losses } : finding;
  }),
});

class Inspector implements AnalysisContext, Inspection {
  readonly facts: AnalysisFacts;
  readonly commands: JudgedCommand[] = [];
  readonly notes: Finding[] = [];
  readonly programs: ProgramCatalog;
  readonly written = new WrittenFiles();
  changesNames = false;
  isUnparsable = false;
  isExhausted = false;
  readonly #aliases: Map<string, string>;
  readonly #functions: Map<string, string>;
  /** Functions defined in the text, each with all bodies that it is given. */
  readonly #ownFunctions = new Map<string, readonly string[]>();
  #nodes = 0;

  constructor(facts: PolicyFacts, programs: ProgramCatalog) {
    this.programs = programs;
    this.facts = { places: programs.places, ...facts };
    this.#aliases = new Map(facts.aliases);
    this.#functions = new Map(facts.functions);
  }

  run(request: PolicyRequest): void {
    const { command, args, env = {} } = request;
    const { home, directories, variables } = this.facts;
    const lookup: VariableLookup = (name) => {
      const value =
        env[name] === undefined ? (variables?.get(name) ?? (name === 'HOME' ? home : undefined)) : undefined;
      return value === undefined ? undefined : { value, isSample: false };
    };
    const given = stdinOf(request);
    const scope: Scope = { depth: 0, nesting: 0, directories, stdin: given, lookup, expanding: [] };
    this.#judgeEnvironment(env, scope);
    const alias = KEYWORDS.find((word) => this.#aliases.has(word));
    if (alias !== undefined) this.note('an alias replaces a keyword of the shell', alias);
    if (!args) {
      this.judgeText(command, scope);
      this.#judgeMentions(command);
      return;
    }
    const unfit = [command, ...args].map(findUnfitness).find((reason) => reason !== undefined);
    // Only the program itself reads these words: their meaning is doubtful, but not where they end.
    if (unfit !== undefined) this.note('{what}', unfit);
    const words = args.map((word) => literal(word));
    const text = [command, ...args].join(' ');
    // A program that is run without a shell cannot be an alias or a function.
    const name = { ...literal(command), isQuoted: true };
    this.judgeCommand({ name, args: words, assignments: [], redirects: [], stdin: given, text }, scope);
  }

  judgeText(text: string, scope: Scope): void {
    if (this.isExhausted) return;
    if (scope.depth >= POLICY_LIMITS.maxDepth) {
      this.note('are nested more than {what} deep', String(POLICY_LIMITS.maxDepth), 'shell texts');
      return;
    }
    const unfit = findUnfitness(text);
    if (unfit !== undefined) {
      this.note('{what}', unfit);
      return;
    }
    const reason = scope.depth === 0 ? whyForeign(text, this.facts.shell) : undefined;
    if (reason !== undefined) {
      this.#judgeForeign(text, scope, reason);
      return;
    }
    const script = parse(text);
    new Walk(text, script, { ...scope, depth: scope.depth + 1 }, this).run(script);
  }

  /** Syntax of another shell is not judged; catastrophes are found all the same in what can be read. */
  #judgeForeign(text: string, scope: Scope, reason: string): void {
    this.note('{what}', reason);
    this.noteNamesChange();
    for (const part of [text, ...commandsInFish(text)]) {
      const script = parse(part);
      if ((script.errors ?? []).length === 0) new Walk(part, script, { ...scope, depth: 1 }, this).run(script);
    }
  }

  judgeCommand(command: SimpleCommand, scope: Scope): void {
    if (this.isExhausted) return;
    if (scope.depth > POLICY_LIMITS.maxDepth) {
      this.note('are nested more than {what} deep', String(POLICY_LIMITS.maxDepth), 'commands');
      return;
    }
    if (this.commands.length >= POLICY_LIMITS.maxCommands) {
      this.#exhaust(`there are more than ${POLICY_LIMITS.maxCommands} commands`);
      return;
    }
    const at = this.commands.length;
    // Reserves the position, because commands that it runs are added after it.
    this.commands.push(PENDING);
    this.commands[at] = judgeSimpleCommand(command, scope, this);
  }

  note(effect: Effect, what?: string, it = ''): void {
    this.noteFinding(findingOf(effect, it, what, false));
  }

  noteFinding(finding: Finding): void {
    const reason = shorten(finding.reason.replaceAll(UNKNOWN, '…'));
    const isFull = this.notes.length >= POLICY_LIMITS.maxReasons && finding.isCatastrophe !== true;
    if (!isFull && !this.notes.some((known) => known.reason === reason)) this.notes.push({ ...finding, reason });
  }

  noteUnparsable(message: string): void {
    this.isUnparsable = true;
    this.note('the text cannot be parsed', message);
  }

  spendNode(): boolean {
    this.#nodes += 1;
    if (this.#nodes > POLICY_LIMITS.maxNodes) this.#exhaust('the command is too large to be judged');
    return !this.isExhausted;
  }

  noteNamesChange(): void {
    this.changesNames = true;
  }

  noteFunction(name: string, body: string): void {
    this.changesNames = true;
    if (isOwnFunction(name)) this.note('defines a function with a name that shell-adapter reserves', name);
    this.#ownFunctions.set(name, [...(this.#ownFunctions.get(name) ?? []), body]);
  }

  noteAlias(name: string, text: string): void {
    this.changesNames = true;
    if (KEYWORDS.includes(name)) this.note('an alias replaces a keyword of the shell', name);
    this.#aliases.set(name, text);
  }

  findAlias(name: string): string | undefined {
    return this.#aliases.get(name);
  }

  bodyOf(name: string, ofText: boolean): string {
    const own = ofText ? (this.#ownFunctions.get(name) ?? []) : [];
    return [this.#functions.get(name) ?? '', ...own].filter((body) => body !== '').join('\n');
  }

  /** A file with credentials that the text names, where it reads a file whose name is not known, may be that one. */
  #judgeMentions(text: string): void {
    if (!this.commands.some(({ hasUnknownPaths }) => hasUnknownPaths)) return;
    const secret = findMentionedSecret(text, this.facts);
    if (secret !== undefined)
      this.note('reads a file that is known only at run time, and names one with credentials', secret);
  }

  #judgeEnvironment(env: Readonly<Record<string, string>>, scope: Scope): void {
    const assignments = Object.entries(env).map(([name, value]) => ({
      name,
      value,
      text: `${name}=…`,
      isPrefix: true,
    }));
    if (assignments.length === 0) return;
    const command = { name: undefined, args: [], assignments, redirects: [], stdin: undefined, text: 'env' };
    const subject = new CommandAnalysis(command, scope, this);
    judgeAssignments(subject, assignments);
    this.notes.push(...subject.result().findings.filter(({ reason }) => reason !== ''));
  }

  #exhaust(reason: string): void {
    if (!this.isExhausted) this.notes.push(findingOf('{what}', '', reason, false));
    this.isExhausted = true;
  }
}

const PENDING: JudgedCommand = {
  text: '',
  program: undefined,
  calledAs: undefined,
  args: [],
  paths: [],
  hasUnknownPaths: false,
  findings: [],
};
