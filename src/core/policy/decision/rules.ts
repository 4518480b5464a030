import { RE2JS } from 're2js';

import type { PolicyAction } from '../model/classes.js';
import type { JudgedCommand } from '../model/finding.js';
import { normalizePath } from '../paths/paths.js';

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
export interface RuleProblem {
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
  const programs = program?.map((pattern) => compileGlob(pattern, false));
  const argPatterns = args?.map((pattern) => compileGlob(pattern, true));
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

/** `*` matches any text; in paths and programs, within one directory. */
function compileGlob(pattern: string, crossesSlashes: boolean): RE2JS {
  const any = crossesSlashes ? '.*' : '[^/]*';
  const one = crossesSlashes ? '.' : '[^/]';
  return RE2JS.compile(
    `(?s)${pattern
      .replace(/[\\^$.|+()[\]{}]/g, String.raw`\$&`)
      .replaceAll('*', any)
      .replaceAll('?', one)}`,
  );
}

function compilePath(pattern: string, home: string | undefined): RE2JS {
  const whole = pattern.startsWith('~') ? `${home ?? '/nonexistent'}${pattern.slice(1)}` : pattern;
  const absolute = whole.includes('*') ? whole : normalizePath(whole, '/');
  const source = absolute.split('**').map((part) =>
    part
      .replace(/[\\^$.|+()[\]{}]/g, String.raw`\$&`)
      .replaceAll('*', '[^/]*')
      .replaceAll('?', '[^/]'),
  );
  // `/dir/**` also matches the directory itself.
  return RE2JS.compile(`(?s)${source.join('.*').replace(/\/\.\*$/, '(?:/.*)?')}`);
}
