import { parse } from 'unbash';

import { literal, UNKNOWN, type VariableLookup } from '../words/argument.js';
import { judgeAssignments } from '../subject/assignments.js';
import type { CommandClass } from '../model/classes.js';
import type { PolicyFacts } from '../model/facts.js';
import type { Finding, JudgedCommand } from '../model/finding.js';
import type { AnalysisFacts } from '../paths/path-kinds.js';
import { directoryOf } from '../paths/paths.js';
import { PROGRAMS } from '../programs/programs.js';
import type { AnalysisContext } from '../words/analysis-context.js';
import { judgeSimpleCommand } from './judge-command.js';
import { POLICY_LIMITS } from '../model/limits.js';
import { commandsInFish } from '../words/fish-text.js';
import { whyForeign } from '../words/foreign-text.js';
import { findUnfitness } from './pre-checks.js';
import { isOwnFunction } from '../words/saved-state.js';
import type { Scope, SimpleCommand } from '../words/simple-command.js';
import { CommandAnalysis } from '../subject/command-analysis.js';
import { shorten } from '../words/shown-text.js';
import { findMentionedSecret } from './mentions.js';
import { type Inspection, type PolicyRequest, stdinOf } from './inspection.js';
import { Walk } from './walk.js';
import { WrittenFiles } from '../words/written-files.js';

/** Words that begin grammatical constructs of the shell: an alias with such a name changes how a text is parsed. */
const KEYWORDS =
  'if then else elif fi for while until do done case esac in function select time coproc { } ! [[ ]] foreach end repeat always nocorrect'.split(
    ' ',
  );

/** Analyses the effects of a request from its text alone. Never throws; what exceeds a limit is `obfuscated`. */
export function inspect(request: PolicyRequest, facts: PolicyFacts): Inspection {
  const inspector = new Inspector(facts);
  inspector.run(request);
  const { commands, notes, changesNames, isUnparsable } = inspector;
  const mayLink = commands.some(({ program = '' }) => PROGRAMS.has(program, 'links'));
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
  readonly programs = PROGRAMS;
  readonly written = new WrittenFiles();
  changesNames = false;
  isUnparsable = false;
  isExhausted = false;
  readonly #aliases: Map<string, string>;
  readonly #functions: Map<string, string>;
  /** Functions defined in the text, each with all bodies that it is given. */
  readonly #ownFunctions = new Map<string, readonly string[]>();
  #nodes = 0;

  constructor(facts: PolicyFacts) {
    this.facts = { places: PROGRAMS.places, ...facts };
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
    if (alias !== undefined) this.note('obfuscated', `an alias replaces a keyword of the shell: ${alias}`);
    if (!args) {
      this.judgeText(command, scope);
      this.#judgeMentions(command);
      return;
    }
    const unfit = [command, ...args].map(findUnfitness).find((reason) => reason !== undefined);
    // Only the program itself reads these words: their meaning is doubtful, but not where they end.
    if (unfit !== undefined) this.note('obfuscated', unfit);
    const words = args.map((word) => literal(word));
    const text = [command, ...args].join(' ');
    // A program that is run without a shell cannot be an alias or a function.
    const name = { ...literal(command), isQuoted: true };
    this.judgeCommand({ name, args: words, assignments: [], redirects: [], stdin: given, text }, scope);
  }

  judgeText(text: string, scope: Scope): void {
    if (this.isExhausted) return;
    if (scope.depth >= POLICY_LIMITS.maxDepth) {
      this.note('obfuscated', `shell texts are nested more than ${POLICY_LIMITS.maxDepth} deep`);
      return;
    }
    const unfit = findUnfitness(text);
    if (unfit !== undefined) {
      this.note('obfuscated', unfit);
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
    this.note('obfuscated', reason);
    this.noteNamesChange();
    for (const part of [text, ...commandsInFish(text)]) {
      const script = parse(part);
      if ((script.errors ?? []).length === 0) new Walk(part, script, { ...scope, depth: 1 }, this).run(script);
    }
  }

  judgeCommand(command: SimpleCommand, scope: Scope): void {
    if (this.isExhausted) return;
    if (scope.depth > POLICY_LIMITS.maxDepth) {
      this.note('obfuscated', `commands are nested more than ${POLICY_LIMITS.maxDepth} deep`);
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

  note(commandClass: CommandClass, reason: string): void {
    const shown = shorten(reason.replaceAll(UNKNOWN, '…'));
    if (this.notes.some((known) => known.reason === shown) || this.notes.length >= POLICY_LIMITS.maxReasons) return;
    this.notes.push({ class: commandClass, reason: shown, isOfProgram: false });
  }

  noteUnparsable(message: string): void {
    this.isUnparsable = true;
    this.note('obfuscated', `the text cannot be parsed: ${message}`);
  }

  noteCatastrophe(reason: string): void {
    this.notes.push({ class: 'destructive', reason, isOfProgram: false, isCatastrophe: true });
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
    if (isOwnFunction(name))
      this.note('obfuscated', `defines a function with a name that shell-adapter reserves: ${name}`);
    this.#ownFunctions.set(name, [...(this.#ownFunctions.get(name) ?? []), body]);
  }

  noteAlias(name: string, text: string): void {
    this.changesNames = true;
    if (KEYWORDS.includes(name)) this.note('obfuscated', `an alias replaces a keyword of the shell: ${name}`);
    this.#aliases.set(name, text);
  }

  findAlias(name: string): string | undefined {
    return this.#aliases.get(name);
  }

  findFunction(name: string, hasInput: boolean): string | undefined {
    const own = hasInput ? (this.#ownFunctions.get(name) ?? []) : [];
    const bodies = [this.#functions.get(name) ?? '', ...own];
    return bodies.filter((body) => body !== '').join('\n');
  }

  /** A file with credentials that the text names, where it reads a file whose name is not known, may be that one. */
  #judgeMentions(text: string): void {
    if (!this.commands.some(({ hasUnknownPaths }) => hasUnknownPaths)) return;
    const secret = findMentionedSecret(text, this.facts);
    if (secret !== undefined)
      this.note(
        'exfiltration',
        `reads a file that is known only at run time, and names one with credentials: ${secret}`,
      );
  }

  bodyOf(name: string): string {
    return [this.#functions.get(name) ?? '', ...(this.#ownFunctions.get(name) ?? [])].filter(Boolean).join('\n');
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
    if (!this.isExhausted) this.notes.push({ class: 'obfuscated', reason, isOfProgram: false });
    this.isExhausted = true;
  }
}

/** Placeholder for a command while it is being judged. */
const PENDING: JudgedCommand = {
  text: '',
  program: undefined,
  calledAs: undefined,
  args: [],
  paths: [],
  hasUnknownPaths: false,
  findings: [],
};
