import {
  type AndOr,
  type Command,
  type For,
  forEachChild,
  type Function as FunctionNode,
  type ParsedScript,
  type Pipeline,
  type Redirected,
  type SyntaxNode,
} from 'unbash';

import { type Directory, POLICY_LIMITS } from '../model.js';
import { judgeEvaluated, judgeExpansion } from '../subject/expansions.js';
import { outputOf, readCommand, readRedirects } from '../subject/read-command.js';
import { isOwnName } from '../words/saved-state.js';
import { type AnalysisContext, directoriesAfter, eitherOf } from '../words/analysis-context.js';
import {
  literal,
  type Scope,
  type SimpleCommand,
  type Stdin,
  toArguments,
  type UnknownInput,
} from '../words/argument.js';
import { stripPrefixes } from '../words/program-knowledge.js';
import { isNesting, type NestingNode } from '../words/assigned-variables.js';
import { Variables } from '../words/variables.js';

/** Programs that print some of the lines of their input. */
const FILTERS = /^(?:head|tail|sort|uniq|grep|egrep|fgrep|shuf|tac|cat|tee|sed|tr)$/;

/** The files whose names a command prints, as far as they are known. */
function listOf(
  { name, args, redirects }: SimpleCommand,
  stdin: Stdin | undefined,
  inquiry: AnalysisContext,
): Partial<UnknownInput> {
  const program = name?.value;
  if (program === undefined || redirects.length > 0 || isOwnName(program, inquiry)) return {};
  const { programs } = inquiry;
  if (FILTERS.test(program) && stdin?.kind === 'unknown') return { below: stdin.below };
  const { lists, finds } = programs.entryOf(program) ?? {};
  return { names: lists?.(args), below: finds?.(args) };
}

/**
 * Judges the names that a compound command reads: `find … | while read f; do cat "$f"; done` may read any of the files.
 * @param since number of the commands that were judged before it
 */
function judgeNamesRead(inquiry: AnalysisContext, since: number, scope: Scope): void {
  const { stdin } = scope;
  const readsAny = inquiry.commands.slice(since).some(({ hasUnknownPaths }) => hasUnknownPaths);
  if (!readsAny || stdin?.kind !== 'unknown' || !stdin.below) return;
  const words = { name: literal('xargs'), args: [literal('cat')], assignments: [], redirects: [] };
  inquiry.judgeCommand({ ...words, stdin, text: 'read' }, scope);
}

/** Longest syntax depth that is searched. */
const MAX_DEPTH = 40;

/**
 * Whether a function starts itself in separate processes, more than once or without waiting, as `:(){ :|:& };:` does:
 * their number grows until the machine cannot create any more.
 */
function isForkBomb({ name, body }: FunctionNode): boolean {
  let calls = 0;
  let inBackground = 0;
  const visit = (node: SyntaxNode, isApart: boolean, isBackground: boolean, depth: number): void => {
    if (depth > MAX_DEPTH || isNesting(node)) return;
    const background = isBackground || isBackgroundJob(node);
    const isSeparate = isApart || background || isPipe(node);
    if (isCallOf(node, name.value)) {
      if (isSeparate) calls += 1;
      if (background) inBackground += 1;
    }
    forEachChild(node, (child) => {
      visit(child, isSeparate, background, depth + 1);
    });
  };
  visit(body, false, false, 0);
  return calls > 1 || inBackground > 0;
}

const isBackgroundJob = (node: SyntaxNode): boolean => node.type === 'Statement' && node.background === true;

const isPipe = (node: SyntaxNode): boolean => node.type === 'Pipeline' && node.commands.length > 1;

const isCallOf = (node: SyntaxNode, name: string): boolean => node.type === 'Command' && node.name?.value === name;

/** The state that changes during the walk through a text. */
interface Flow {
  directories: readonly Directory[];
  readonly stdin: Stdin | undefined;
  readonly nesting: number;
}

/** Standard input of `>(…)` and `coproc`. */
const PIPED_INPUT: Stdin = { kind: 'unknown', what: 'another command' };

/** Parents of alternatives: whether an alternative runs is known only at run time. */
const ALTERNATIVES: ReadonlySet<SyntaxNode['type']> = new Set([
  ...(['If', 'Elif', 'For', 'ArithmeticFor', 'While', 'Case', 'CaseItem', 'Select'] as const),
]);

/** Walks through a parsed text and judges every simple command in it, at any depth of substitution. */
export class Walk {
  readonly #source: string;
  readonly #scope: Scope;
  readonly #inquiry: AnalysisContext;
  readonly #variables: Variables;
  #depth = 0;

  constructor(source: string, script: ParsedScript, scope: Scope, inquiry: AnalysisContext) {
    this.#source = source;
    this.#scope = scope;
    this.#inquiry = inquiry;
    this.#variables = new Variables(script, inquiry);
  }

  run(script: ParsedScript): void {
    const { directories, stdin, nesting } = this.#scope;
    this.#visit(script, { directories, stdin, nesting });
  }

  #visit(node: SyntaxNode, flow: Flow): void {
    if (!this.#inquiry.spendNode() || this.#visitList(node, flow)) return;
    switch (node.type) {
      case 'Script':
        this.#reportErrors(node);
        break;
      case 'Function':
        this.#visitFunction(node, flow);
        return;
      case 'Subshell':
        this.#visitChildren(node, { ...flow });
        return;
      case 'For':
        this.#judgeLoopWords(node, flow);
        break;
      case 'Coproc':
        judgeExpansion(node, this.#inquiry, this.#variables);
        this.#visitChildren(node, { ...flow, stdin: PIPED_INPUT });
        return;
      default:
        judgeExpansion(node, this.#inquiry, this.#variables);
    }
    if (isNesting(node)) this.#visitExpansion(node, flow);
    else this.#visitParts(node, flow);
  }

  /** Visits commands and lists of commands; returns false for other nodes. */
  #visitList(node: SyntaxNode, flow: Flow): boolean {
    switch (node.type) {
      case 'Statement':
        this.#visit(node.command, node.background === true ? { ...flow } : flow);
        return true;
      case 'AndOr':
        this.#visitAndOr(node, flow);
        return true;
      case 'Pipeline':
        this.#visitPipeline(node, flow);
        return true;
      case 'Command':
        this.#visitCommand(node, flow);
        return true;
      case 'Redirected':
        this.#visitRedirected(node, flow);
        return true;
      default:
        return false;
    }
  }

  #visitFunction(node: FunctionNode, flow: Flow): void {
    this.#inquiry.noteFunction(node.name.value, this.#source.slice(node.body.pos, node.body.end));
    if (isForkBomb(node)) this.#inquiry.note('starts copies of itself without end (a fork bomb)', '', 'a function');
    this.#visit(node.body, { ...flow });
  }

  #visitParts(node: SyntaxNode, flow: Flow): void {
    const before = flow.directories;
    this.#visitChildren(node, flow);
    if (ALTERNATIVES.has(node.type)) flow.directories = eitherOf(before, flow.directories);
  }

  /** A loop uses the files that it iterates over by a variable of which less is known, so they are judged here. */
  #judgeLoopWords(node: For, flow: Flow): void {
    judgeExpansion(node, this.#inquiry, this.#variables);
    const scope = this.#scopeAt(node.pos, flow);
    const words = (node.wordlist ?? []).filter(({ text }) => /[/~]/.test(text)).slice(0, POLICY_LIMITS.maxRedirects);
    if (words.length === 0) return;
    const args = words.flatMap((word) => toArguments(word, scope.lookup));
    const text = words.map((word) => word.text).join(' ');
    this.#inquiry.judgeCommand(
      { name: literal('ls'), args, assignments: [], redirects: [], stdin: undefined, text },
      scope,
    );
  }

  #visitChildren(node: SyntaxNode, flow: Flow): void {
    if (this.#depth >= POLICY_LIMITS.maxSyntaxDepth) {
      this.#inquiry.note(
        'are nested more than {what} deep',
        String(POLICY_LIMITS.maxSyntaxDepth),
        'parts of the syntax',
      );
      return;
    }
    this.#depth += 1;
    forEachChild(node, (child) => {
      this.#visit(child, flow);
    });
    this.#depth -= 1;
  }

  #reportErrors({ errors }: ParsedScript): void {
    const [first] = errors ?? [];
    if (first) this.#inquiry.noteUnparsable(first.message);
  }

  /** A substitution runs in a subshell, so it does not change this shell's directory. */
  #visitExpansion(node: NestingNode, flow: Flow): void {
    if ('script' in node && !node.script) this.#inquiry.note('a substitution cannot be parsed');
    else if (flow.nesting >= POLICY_LIMITS.maxNesting) {
      this.#inquiry.note('are nested more than {what} deep', String(POLICY_LIMITS.maxNesting), 'expansions');
    } else {
      const isFed = node.type === 'ProcessSubstitution' && node.operator === '>';
      this.#visitChildren(node, { ...flow, nesting: flow.nesting + 1, ...(isFed && { stdin: PIPED_INPUT }) });
    }
  }

  /** After `&&`, the preceding commands have succeeded. After the whole list, the last command that ran is unknown. */
  #visitAndOr({ commands, operators }: AndOr, flow: Flow): void {
    const before = flow.directories;
    commands.forEach((command, index) => {
      if (operators[index - 1] === '||') flow.directories = eitherOf(before, flow.directories);
      this.#visit(command, flow);
    });
    flow.directories = eitherOf(before, flow.directories);
  }

  /** Each command of a pipeline runs in a separate process, and reads the output of the preceding one. */
  #visitPipeline({ commands }: Pipeline, flow: Flow): void {
    let { stdin } = flow;
    for (const command of commands) {
      const own = { ...flow, stdin };
      const judged = command.type === 'Command' ? this.#visitCommand(command, own) : undefined;
      if (!judged) this.#visitCompound(command, own);
      if (commands.length === 1) flow.directories = own.directories;
      const text = judged && outputOf(judged, this.#inquiry);
      const what = judged?.name === undefined ? 'another command' : judged.name.text;
      stdin =
        text === undefined
          ? { kind: 'unknown', what, ...(judged && listOf(judged, stdin, this.#inquiry)) }
          : { kind: 'text', text, isCertain: true };
    }
  }

  #visitCompound(node: SyntaxNode, flow: Flow): void {
    const count = this.#inquiry.commands.length;
    this.#visit(node, flow);
    judgeNamesRead(this.#inquiry, count, this.#scopeAt(node.pos, flow));
  }

  #visitCommand(node: Command, flow: Flow): SimpleCommand {
    const scope = this.#scopeAt(node.pos, flow);
    this.#visitChildren(node, flow);
    judgeEvaluated(node, this.#inquiry, this.#variables);
    const command = readCommand(node, this.#source, scope.lookup, flow.stdin);
    this.#inquiry.judgeCommand(command, scope);
    const { facts, programs } = this.#inquiry;
    const called = stripPrefixes(command, programs);
    const after = command.name && directoriesAfter(called, flow.directories, facts, programs);
    if (after) flow.directories = this.#isChecked(node) ? after : eitherOf(flow.directories, after);
    return command;
  }

  /** Whether the commands that follow run only when this command has succeeded. */
  #isChecked(node: Command): boolean {
    return /^\s*&&/.test(this.#source.slice(node.end, node.end + OPERATOR_DISTANCE));
  }

  /** A redirection of a group is judged separately; its input applies to all commands in the group. */
  #visitRedirected(node: Redirected, flow: Flow): void {
    const scope = this.#scopeAt(node.pos, flow);
    const { redirects, stdin } = readRedirects(node.redirects, scope.lookup);
    for (const redirect of node.redirects) this.#visitChildren(redirect, flow);
    const text = this.#source.slice(node.command.end, node.end).trim();
    this.#inquiry.judgeCommand({ name: undefined, args: [], assignments: [], redirects, stdin, text }, scope);
    const inner = { ...flow, stdin: stdin ?? flow.stdin };
    this.#visit(node.command, inner);
    flow.directories = inner.directories;
  }

  #scopeAt(position: number, { directories, stdin, nesting }: Flow): Scope {
    const lookup = this.#variables.lookupAt({ position, directories }, this.#scope.lookup);
    return { ...this.#scope, directories, stdin, nesting, lookup };
  }
}

/** Distance after a command within which its operator is searched, in characters. */
const OPERATOR_DISTANCE = 80;
