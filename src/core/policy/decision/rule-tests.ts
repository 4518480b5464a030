import { factsOfFreshShell, type PolicyFacts } from '../model/facts.js';
import { inspect } from '../analysis/inspect.js';
import { compileRule, type PolicyRule, type RuleDefinition } from './rules.js';

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
