import { RE2JS } from 're2js';

import { inspect } from './analysis/inspect.js';
import { factsOfFreshShell, type JudgedCommand, type PolicyAction, type PolicyFacts } from './model.js';
import { normalizePath } from './paths.js';

/** A rule as written in the configuration. All of its conditions must be met. */
export interface RuleDefinition {
  readonly action: PolicyAction;
  /** Names or paths of programs; `*` and `?` match any characters but `/`. */
  readonly program?: readonly string[] | undefined;
  /** Each pattern must match one of the arguments. */
  readonly args?: readonly string[] | undefined;
  /** One pattern must match a path that the command names; `**` matches any depth, `~` is the home directory. */
  readonly path?: readonly string[] | undefined;
  /** RE2 syntax; matches anywhere in the command's text. */
  readonly regex?: string | undefined;
  /** Reason that is shown when the rule applies. */
  readonly reason?: string | undefined;
}

/** Whether a rule applies: `perhaps` when that depends on facts known only at run time. */
type RuleMatch = 'yes' | 'perhaps' | 'no';

/** A compiled rule. */
export interface PolicyRule {
  readonly action: PolicyAction;
  readonly reason: string;
  /** Whether it applies to one simple command. */
  match(command: JudgedCommand): RuleMatch;
  /** Whether it applies to the text of a whole request; only for rules that consist of an expression alone. */
  matchText(text: string): RuleMatch;
}

/** A rule is invalid: `field` contains the fault. */
interface RuleProblem {
  readonly field: keyof RuleDefinition;
  readonly message: string;
}

/** Longest text to which an expression is applied, in characters: the time is proportional to the length. */
const MAX_REGEX_TEXT = 4096;

/** Compiles a rule, or returns the problem with it. */
export function compileRule(
  definition: RuleDefinition,
  home: string | undefined,
): { readonly rule: PolicyRule } | { readonly problem: RuleProblem } {
  const { action, program, args, path, regex } = definition;
  if (hasNoCondition(definition)) {
    return { problem: { field: 'action', message: 'a rule needs program, args, path or regex' } };
  }
  let expression: RE2JS | undefined;
  try {
    expression = regex === undefined ? undefined : RE2JS.compile(regex);
  } catch (error) {
    return { problem: { field: 'regex', message: `is no regular expression of RE2: ${(error as Error).message}` } };
  }
  const find = (text: string): RuleMatch => {
    if (!expression) return 'no';
    if (text.length > MAX_REGEX_TEXT) return 'perhaps';
    return expression.matcher(text).find() ? 'yes' : 'no';
  };
  const programs = program?.map((pattern) => compileGlob(pattern, '[^/]'));
  const argPatterns = args?.map((pattern) => compileGlob(pattern, '.'));
  const paths = path?.map((pattern) => compilePath(pattern, home));
  const rule: PolicyRule = {
    action,
    reason: definition.reason ?? describe(definition),
    match: (command) => {
      const conditions: RuleMatch[] = [];
      if (programs) conditions.push(matchProgram(programs, command));
      if (argPatterns) conditions.push(allOf(argPatterns.map((pattern) => matchArgument(pattern, command))));
      if (paths) conditions.push(matchPath(paths, command));
      if (expression) conditions.push(find(canonicalText(command)));
      return allOf(conditions);
    },
    matchText: (text) => (programs || argPatterns || paths ? 'no' : find(text)),
  };
  return { rule };
}

const hasNoCondition = ({ program, args, path, regex }: RuleDefinition): boolean =>
  !program && !args && !path && regex === undefined;

const describe = ({ action, program, args, path, regex }: RuleDefinition): string =>
  `a rule says ${action}: ${[...(program ?? []), ...(args ?? []), ...(path ?? []), ...(regex === undefined ? [] : [regex])].join(' ')}`;

function allOf(matches: readonly RuleMatch[]): RuleMatch {
  if (matches.includes('no')) return 'no';
  return matches.includes('perhaps') ? 'perhaps' : 'yes';
}

/** The command after quote removal, to which expressions are applied. */
const canonicalText = ({ calledAs, args }: JudgedCommand): string =>
  [calledAs ?? '', ...args.map((arg) => arg ?? '?')].join(' ');

function matchProgram(patterns: readonly RE2JS[], { program, calledAs }: JudgedCommand): RuleMatch {
  if (program === undefined) return calledAs === undefined ? 'no' : 'perhaps';
  const isMatch = patterns.some((pattern) => pattern.matches(program) || pattern.matches(calledAs ?? program));
  return isMatch ? 'yes' : 'no';
}

function matchArgument(pattern: RE2JS, { args }: JudgedCommand): RuleMatch {
  if (args.some((arg) => arg !== undefined && pattern.matches(arg))) return 'yes';
  return args.includes(undefined) ? 'perhaps' : 'no';
}

function matchPath(patterns: readonly RE2JS[], { paths, hasUnknownPaths }: JudgedCommand): RuleMatch {
  if (paths.some((path) => patterns.some((pattern) => pattern.matches(path)))) return 'yes';
  return hasUnknownPaths ? 'perhaps' : 'no';
}

/** `*` and `?` match any characters; in paths and programs, all but `/`. Everything else stands for itself. */
const globSource = (pattern: string, one: '.' | '[^/]'): string =>
  pattern
    .replace(/[\\^$.|+()[\]{}]/g, String.raw`\$&`)
    .replaceAll('*', `${one}*`)
    .replaceAll('?', one);

const compileGlob = (pattern: string, one: '.' | '[^/]'): RE2JS => RE2JS.compile(`(?s)${globSource(pattern, one)}`);

function compilePath(pattern: string, home: string | undefined): RE2JS {
  const whole = pattern.startsWith('~') ? `${home ?? '/nonexistent'}${pattern.slice(1)}` : pattern;
  const absolute = whole.includes('*') ? whole : normalizePath(whole, '/');
  const source = absolute.split('**').map((part) => globSource(part, '[^/]'));
  // `/dir/**` also matches the directory itself.
  return RE2JS.compile(`(?s)${source.join('.*').replace(/\/\.\*$/, '(?:/.*)?')}`);
}

/** A rule with test texts. */
export interface TestedRule extends RuleDefinition {
  /** Commands to which it must apply. */
  readonly match?: readonly string[] | undefined;
  /** Commands to which it must not apply. */
  readonly not_match?: readonly string[] | undefined;
}

/** A problem with a rule, and its position. */
export interface RuleFault {
  /** Path within the rule: a field, or a test by its index. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Facts for rule tests: a fresh bash in this workspace, of a user with this home directory. */
const RULE_TEST_FACTS: PolicyFacts = factsOfFreshShell('/workspace', { home: '/home/user' });

/**
 * Compiles a rule and runs its own tests; returns the problems.
 * @param facts the place in which the tests would run
 * @default a fresh bash in `/workspace`
 */
export function findRuleFaults(definition: TestedRule, facts = RULE_TEST_FACTS): readonly RuleFault[] {
  const compiled = compileRule(definition, facts.home);
  if ('problem' in compiled) return [{ path: [compiled.problem.field], message: compiled.problem.message }];
  const check = (field: 'match' | 'not_match', isWanted: boolean): RuleFault[] =>
    (definition[field] ?? []).flatMap((text, index) => {
      if (applies(compiled.rule, text, facts) === isWanted) return [];
      const message = `this test of the rule fails: it ${isWanted ? 'does not apply' : 'applies'} to ${JSON.stringify(text)}`;
      return [{ path: [field, index], message }];
    });
  return [...check('match', true), ...check('not_match', false)];
}

/** Whether a rule applies to a text: a rule that allows must match with certainty, one that forbids need not. */
function applies(rule: PolicyRule, text: string, facts: PolicyFacts): boolean {
  const { commands } = inspect({ command: text }, facts);
  const matches = [
    ...commands.map((command) => rule.match(command)),
    rule.action === 'allow' ? 'no' : rule.matchText(text),
  ];
  return matches.some((match) => match === 'yes' || (match === 'perhaps' && rule.action !== 'allow'));
}
