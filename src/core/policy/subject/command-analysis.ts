import type { CommandClass, Directory, JudgedCommand, Loss, TakenWord, TypedLanguage } from '../model.js';
import { type Effect, findingOf, statedFinding, WRITING } from '../effects.js';
import {
  type AnalysisFacts,
  containsSecret,
  describePath,
  entryOf,
  isCritical,
  isRawDevice,
  isScratchFile,
  isSecret,
  isSecretName,
  kindOf,
  kindOfEntry,
  mayBeCritical,
  seeksSecrets,
  targetOf,
  type TreeFilter,
} from '../path-kinds.js';
import { baseName, isWithin, resolvePath } from '../paths.js';
import { type AnalysisContext, Findings, patternOf } from '../words/analysis-context.js';
import { type Argument, type Scope, shorten, type SimpleCommand, UNKNOWN } from '../words/argument.js';
import { TEMPORARY } from '../words/variables.js';
import { typedLanguage } from './read-command.js';

/** Programs that remove links, and never what they lead to. */
const UNLINKING: ReadonlySet<string> = new Set(['rm', 'rmdir', 'unlink']);

/**
 * Returns what of an argument a checkpoint of the workspace can bring back.
 * @param paths the possible paths of the argument
 * @param sparesGit whether directories of git stay as they are
 * @returns undefined when a part of it is not in the workspace, or not known
 */
function lossesOf(
  { program = '', scope, inquiry }: CommandAnalysis,
  argument: Argument,
  paths: readonly Directory[],
  sparesGit: boolean,
): readonly Loss[] | undefined {
  // A command that another program runs may run later, or on another machine.
  if (scope.depth > 1 || !isClear(argument, program)) return undefined;
  const { workspace } = inquiry.facts;
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

/** Adds findings for a path that is deleted or moved away. */
function judgeRemoval(
  subject: CommandAnalysis,
  path: string,
  argument: Argument,
  what: string,
  isRecursive: boolean,
): void {
  const { facts } = subject.inquiry;
  if (isRecursive && isEssential(path, argument, facts))
    subject.does('a directory on which everything depends', path, what);
  else if (isRawDevice(path)) subject.does('a disk', path, what);
  else if (argument.isSample && isWithin(path, TEMPORARY))
    subject.does('a temporary file that it has created', '', what);
  else if (!isRecursive && isScratchFile(path, facts, argument.isGlob)) subject.does('a scratch file', path, what);
  else subject.addDeleted(`${what} ${path}`, path, argument);
  const { class: commandClass, what: place } = WRITING[kindOfEntry(path, facts)];
  if (commandClass === 'persistence') subject.states('persistence', `${place}:`, path);
}

function judgeUnknownRemoval(subject: CommandAnalysis, { shape, text }: Argument, what: string): void {
  const hasNoKnownName = shape.replaceAll(UNKNOWN, '').replace(/^\/*(?:\*|\.)?\/*$/, '') === '';
  const mayBeRoot = hasNoKnownName && shape.includes('/');
  const unknown = 'a path that is known only at run time';
  subject.causes(mayBeRoot ? `${unknown}, and is / if its unknown part is empty` : unknown, shorten(text), what);
}

/** Whether deleting the directory entry would break the machine. */
const isEssential = (path: string, { isGlob }: Argument, facts: AnalysisFacts): boolean =>
  [path, entryOf(path, facts)].some((entry) => (isGlob ? mayBeCritical(entry, facts) : isCritical(entry, facts)));

/** Placeholder for a part of a shell text that is known only at run time. The rest is still judged. */
const UNKNOWN_TEXT = '$unknown';

export class CommandAnalysis {
  readonly command: SimpleCommand;
  readonly scope: Scope;
  readonly inquiry: AnalysisContext;
  /** Base name of the program, without a version. */
  readonly program: string | undefined;
  readonly #findings = new Findings();
  readonly #paths = new Set<string>();
  #hasUnknownPaths = false;
  #repositories: readonly string[] = [];
  readonly #scripts = new Set<string>();
  #typed: TypedLanguage | undefined;
  readonly #words: TakenWord[] = [];

  constructor(command: SimpleCommand, scope: Scope, inquiry: AnalysisContext, program?: string) {
    this.command = command;
    this.scope = scope;
    this.inquiry = inquiry;
    this.program = program;
  }

  get args(): readonly Argument[] {
    return this.command.args;
  }

  /** Whether `take` has an effect: what is taken for what is not found out otherwise. */
  get isExplained(): boolean {
    return this.inquiry.facts.isExplained === true;
  }

  /** Notes what a word is taken for, if the verdict is to be explained. */
  take(word: string, takenFor: string): void {
    if (!this.isExplained) return;
    const isKnown = this.#words.some((each) => each.word === word && each.takenFor === takenFor);
    if (!isKnown) this.#words.push({ word: shorten(word), takenFor });
  }

  hasFound(commandClass: CommandClass): boolean {
    return this.#findings.has(commandClass);
  }

  /**
   * Adds an effect of the program.
   * @param it what has the effect
   */
  does(effect: Effect, what?: string, it = this.program ?? 'it'): void {
    this.#findings.add(findingOf(effect, it, what));
  }

  /**
   * Adds an effect of the surroundings of the program, or of something unknown. No rule that allows the program covers it.
   */
  causes(effect: Effect, what?: string, it = this.program ?? 'it'): void {
    this.#findings.add(findingOf(effect, it, what, false));
  }

  /** Adds an effect that an entry or a rule states: see `statedFinding`. */
  states(...stated: Parameters<typeof statedFinding>): void {
    this.#findings.add(statedFinding(...stated));
  }

  /** Adds a finding about changes to files in the workspace that git discards. */
  addDiscarded(reason: string, files: readonly Argument[]): void {
    const losses = files.map((file) => lossesOf(this, file, this.#pathsOf(file), true));
    const isRecoverable = losses.length > 0 && losses.every((each) => each !== undefined);
    const all = isRecoverable ? { losses: losses.flat() } : {};
    this.#findings.add({ class: 'destructive', reason, isOfProgram: true, ...all });
  }

  /** Adds a finding if the program executes typed input. */
  addTyping(): void {
    const { program, command, inquiry } = this;
    const known = program === undefined ? undefined : inquiry.programs.entryOf(program)?.typing;
    this.#typed = known && typedLanguage(known, command, inquiry.facts.typing);
    const name = baseName(command.name?.value ?? program ?? '');
    if (this.#typed) this.does('takes typed input that the policy cannot judge', '', name);
  }

  /** Adds a finding about an argument with an unknown value. */
  addUnknown(argument: Argument, what: string): void {
    this.causes('is known only at run time', shorten(argument.text), what);
  }

  read(argument: Argument): void {
    if (argument.value === undefined) this.#hasUnknownPaths = true;
    const isPattern = argument.isGlob || argument.value === undefined;
    const value = argument.value ?? patternOf(argument.shape);
    if (value === undefined) return;
    for (const path of this.#pathsOf({ ...argument, value })) {
      if (path !== undefined) this.#readPath(path, isPattern);
    }
  }

  /**
   * Adds findings for reading a file, or everything below a directory.
   * @param filter which files below it are read, if not all
   */
  readTree(argument: Argument, { names = [], seesHidden = true }: TreeFilter = {}): void {
    this.read(argument);
    if (argument.value === undefined) return;
    for (const path of this.#mayFindSecrets(names) ? this.#pathsOf(argument) : []) {
      if (path !== undefined && containsSecret(path, this.inquiry.facts, seesHidden))
        this.causes('reads a directory in which credentials are', path, '');
    }
  }

  /** Whether a search for names finds files with credentials where these are; all searches do without names. */
  #mayFindSecrets(names: readonly string[]): boolean {
    const sought = names.find((name) => seeksSecrets(baseName(name)));
    if (sought !== undefined) this.causes('reads files with credentials', sought, '');
    return names.length === 0 || names.some((name) => isSecretName(baseName(name)));
  }

  write(argument: Argument, isOfProgram = true): void {
    const { facts } = this.inquiry;
    for (const path of this.#pathsOf(argument)) {
      const kind = kindOf(path, facts, argument.isGlob);
      const { class: commandClass, what } = WRITING[kind];
      const reason = `${what}: ${path === undefined ? shorten(argument.text) : describePath(path, facts)}`;
      if (path !== undefined && isRawDevice(targetOf(path, facts)))
        this.does('overwrites a disk or the memory', path, '');
      else if (kind !== 'harmless') this.#findings.add({ class: commandClass, reason, isOfProgram });
      if (path !== undefined) this.#nameFile(path);
    }
  }

  #nameFile(path: string): void {
    // A lone dash is no option: most programs take it for standard input or output.
    if (/^-./.test(baseName(path)))
      this.causes('creates a file whose name other programs take for an option', path, '');
  }

  /**
   * Records that a file is written, since it may be run later in the text. Its content is `text`, or the output of this
   * command.
   */
  noteWritten(file: Argument, text?: string): void {
    const { stdin } = this.command;
    const by = stdin?.kind === 'unknown' ? stdin.what : (this.program ?? 'another command');
    const written = text === undefined ? ({ kind: 'unknown', by } as const) : ({ kind: 'text', text } as const);
    if (this.inquiry.written.wasRun(file, this.scope.directories))
      this.causes('writes a file that the same text runs', file.text, '');
    this.inquiry.written.note(file, this.scope.directories, written);
  }

  remove(argument: Argument, what: string, isRecursive: boolean): void {
    for (const path of this.#pathsOf(argument)) {
      if (path === undefined) judgeUnknownRemoval(this, argument, what);
      else judgeRemoval(this, path, argument, what, isRecursive);
    }
  }

  /** Adds a finding about a deleted path, which a checkpoint may bring back. */
  addDeleted(reason: string, path: string, argument: Argument): void {
    const losses = lossesOf(this, argument, [path], false);
    this.#findings.add({ class: 'destructive', reason, isOfProgram: true, ...(losses && { losses }) });
  }

  noteScript(script: Argument): void {
    for (const path of this.#pathsOf(script)) if (path !== undefined) this.#scripts.add(path);
  }

  /** Records the directories from which the command looks for a repository of git. */
  noteRepositories(directories: readonly Directory[]): void {
    this.#repositories = directories.filter((directory) => directory !== undefined);
  }

  runText(argument: Argument, what: string, stdin = this.command.stdin, scope = this.scope): void {
    if (argument.value === undefined || argument.isSample) this.addUnknown(argument, what);
    const text = argument.value ?? argument.shape.replaceAll(UNKNOWN, UNKNOWN_TEXT);
    this.inquiry.judgeText(text, { ...scope, stdin });
  }

  runWords(words: readonly Argument[], changes: Partial<SimpleCommand> = {}, scope = this.scope): void {
    const [name, ...args] = words;
    const text = words.map((word) => word.text).join(' ');
    const { stdin } = this.command;
    this.inquiry.judgeCommand(
      { name, args, assignments: [], redirects: [], stdin, text, ...changes },
      { ...scope, depth: scope.depth + 1 },
    );
  }

  result(): JudgedCommand {
    const { name, args, text } = this.command;
    return {
      text: shorten(text),
      program: this.program,
      calledAs: name?.value ?? name?.text,
      args: args.map(({ value, isGlob, isSample }) => (isGlob || isSample ? undefined : value)),
      paths: [...this.#paths],
      hasUnknownPaths: this.#hasUnknownPaths,
      findings: this.#findings.all,
      scripts: [...this.#scripts],
      repositories: this.#repositories,
      isFed: this.command.stdin !== undefined,
      typed: this.#typed,
      ...(this.#words.length > 0 && { words: this.#words }),
    };
  }

  #readPath(path: string, isPattern: boolean): void {
    const { facts, programs } = this.inquiry;
    if (isSecret(path, facts, isPattern)) {
      const effect = facts.files.get(path)?.isKey === true ? 'reads a private key' : 'reads credentials';
      this.causes(effect, describePath(path, facts), '');
    }
    if (isRawDevice(path) && !programs.has(this.program ?? '', 'metadata'))
      this.causes('reads a disk or the memory directly, without file permissions', path, '');
  }

  #pathsOf({ value, isProcess }: Argument): readonly (string | undefined)[] {
    if (isProcess || value === '') return [];
    const paths = value === undefined ? [undefined] : resolvePath(value, this.scope.directories);
    for (const path of paths) {
      if (path === undefined) this.#hasUnknownPaths = true;
      else this.#paths.add(path);
    }
    return paths;
  }
}
