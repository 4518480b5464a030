import { factsOfFreshShell } from '../model/facts.js';
import { inspect } from '../analysis/inspect.js';
import { compileRule, type PolicyRule, type RuleDefinition } from './rules.js';

/** A rule with texts to prove it by. */
export interface TestedRule extends RuleDefinition {
  /** Commands that it applies to. */
  readonly match?: readonly string[] | undefined;
  /** Commands that it does not apply to. */
  readonly not_match?: readonly string[] | undefined;
}

/** What is wrong with a rule, and where. */
export interface RuleFault {
  /** Within the rule: a field, or a test by its number. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What rules are tested with: a fresh bash in this workspace, of a user with this home. */
const RULE_TEST_FACTS = factsOfFreshShell('/workspace', { home: '/home/user' });

/** Prepares a rule and puts it to its own tests; gives what is wrong with it. */
export function findRuleFaults(definition: TestedRule): readonly RuleFault[] {
  const compiled = compileRule(definition, RULE_TEST_FACTS.home);
  if ('problem' in compiled) return [{ path: [compiled.problem.field], message: compiled.problem.message }];
  const check = (field: 'match' | 'not_match', isWanted: boolean): RuleFault[] =>
    (definition[field] ?? []).flatMap((text, index) => {
      if (applies(compiled.rule, text) === isWanted) return [];
      const message = `this test of the rule fails: it ${isWanted ? 'does not apply' : 'applies'} to ${JSON.stringify(text)}`;
      return [{ path: [field, index], message }];
    });
  return [...check('match', true), ...check('not_match', false)];
}

/** Whether a rule has a say in a command: one that allows must be sure, one that forbids need not be. */
function applies(rule: PolicyRule, text: string): boolean {
  const { commands } = inspect({ command: text }, RULE_TEST_FACTS);
  const matches = [
    ...commands.map((command) => rule.match(command)),
    rule.action === 'allow' ? 'no' : rule.matchText(text),
  ];
  return matches.some((match) => match === 'yes' || (match === 'perhaps' && rule.action !== 'allow'));
}
