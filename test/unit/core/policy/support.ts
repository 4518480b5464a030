import {
  type CommandClass,
  factsOfFreshShell,
  type PolicyAction,
  type PolicyFacts,
} from '../../../../src/core/policy/model.js';
import type { PolicyRequest } from '../../../../src/core/policy/analysis/inspect.js';
import {
  decide,
  type PolicyVerdict,
  type PresetName,
  PRESETS,
  withoutCheckpoints,
} from '../../../../src/core/policy/policy.js';
import { compileRule, type PolicyRule, type RuleDefinition } from '../../../../src/core/policy/rules.js';

/** Where the commands of these tests stand. */
export const WORKSPACE = '/work/space';
export const HOME = '/home/ada';

/** A fresh bash in the workspace, unless told otherwise. */
export const facts = (given: Partial<PolicyFacts> = {}): PolicyFacts =>
  factsOfFreshShell(WORKSPACE, {
    home: HOME,
    protectedPaths: ['/work/space/adapter.yaml'],
    secretPaths: ['/work/space/state/token'],
    ...given,
  });

/** Actions of `balanced`, where no checkpoint can be made. */
const ACTIONS = withoutCheckpoints({ actions: PRESETS.balanced, rules: [] }).actions;

/** What is decided of a command: by `balanced` where no checkpoint can be made, unless a preset is given. */
export function verdictOn(
  request: string | PolicyRequest,
  given: Partial<PolicyFacts> = {},
  { preset, rules = [] }: { preset?: PresetName; rules?: readonly PolicyRule[] } = {},
): PolicyVerdict {
  const asked = typeof request === 'string' ? { command: request } : request;
  return decide({ actions: preset ? PRESETS[preset] : ACTIONS, rules }, asked, facts(given));
}

/** `action class` of a command, as tables have it. */
export const outcomeOf = (...args: Parameters<typeof verdictOn>): string => {
  const { action, class: commandClass } = verdictOn(...args);
  return `${action} ${commandClass}`;
};

/** A rule that can be used. */
export function ruleOf(definition: RuleDefinition): PolicyRule {
  const compiled = compileRule(definition, HOME);
  if ('problem' in compiled) throw new Error(compiled.problem.message);
  return compiled.rule;
}

/** A row of a table: a command, and the class that it has. */
export type Row = readonly [command: string, commandClass: CommandClass];

/** Actions of `balanced` by class, where no checkpoint can be made. */
export const actionOf = (commandClass: CommandClass): PolicyAction => ACTIONS[commandClass];
