import { isAbsolute } from 'node:path';

import { COMMAND_CLASSES, factsOfFreshShell, POLICY_ACTIONS } from './core/policy/model.js';
import {
  type ClassActions,
  type CommandVerdict,
  decide,
  type PolicyVerdict,
  type PresetName,
  PRESETS,
} from './core/policy/policy.js';
import { compileRule, type PolicyRule, type RuleDefinition } from './core/policy/rules.js';

export type { CommandClass, PolicyAction, TakenWord } from './core/policy/model.js';
export type { PresetName } from './core/policy/policy.js';
export type { RuleDefinition } from './core/policy/rules.js';

const SHELLS = ['bash', 'zsh', 'sh', 'fish', 'pwsh'] as const;

/** Where a command would run, and what decides on it. */
export interface JudgeFacts {
  /** Absolute path of the directory whose files commands may change. */
  readonly workspace: string;
  /**
   * Absolute path of the directory in which the command would run.
   * @default `workspace`
   */
  readonly directory?: string;
  /** Absolute path of the home directory; by default it is not known, and what `~` means neither. */
  readonly home?: string;
  /**
   * The shell that would read the text.
   * @default 'bash'
   */
  readonly shell?: (typeof SHELLS)[number];
  /** Arguments, which no shell parses: the text is a program then. */
  readonly args?: readonly string[];
  /** Variables that are set for the command. */
  readonly env?: Readonly<Record<string, string>>;
  /** Text on its standard input. */
  readonly stdin?: string;
  /** Aliases and functions of the shell, with their texts; those of functions include the braces. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly functions?: Readonly<Record<string, string>>;
  /** Absolute paths that no command may change without confirmation, such as the file with these rules. */
  readonly protectedPaths?: readonly string[];
  /** Absolute paths that no command may read without confirmation, beside those that are known to have credentials. */
  readonly secretPaths?: readonly string[];
  /**
   * Action for each class of commands.
   * @default 'balanced'
   */
  readonly preset?: PresetName;
  /** Other actions than those of the preset. */
  readonly classes?: Partial<ClassActions>;
  /** Rules, as in the section `confirmation` of a configuration file. */
  readonly rules?: readonly RuleDefinition[];
}

/** What the policy decides on a simple command within a text, and what each of its words was taken for. */
export type JudgedPart = Required<CommandVerdict>;

/** What the policy decides on a text: as strict as for the worst part of it. */
export interface Judgement extends Pick<
  PolicyVerdict,
  'action' | 'class' | 'reasons' | 'paths' | 'hasUnknowns' | 'isUnparsable'
> {
  /** Every simple command, at any depth, in the order in which they were found. */
  readonly commands: readonly JudgedPart[];
}

/**
 * Judges a command as the daemon does, from its text alone: nothing is run, and no file is looked at. It takes about a
 * millisecond, and at most some tenths of a second for a text of any kind.
 *
 * @example
 *     judge('git status && rm -rf build', { workspace: '/home/ann/project' }).action; // 'checkpoint'
 * @throws TypeError when a fact is wrong; it says which, and what would be right
 */
export function judge(text: string, facts: JudgeFacts): Judgement {
  if (typeof text !== 'string') throw new TypeError('judge: the text must be a string');
  const { workspace, directory = workspace, home, shell = 'bash', args, env, stdin } = facts;
  checkPaths({ workspace, directory, ...(home !== undefined && { home }) });
  if (!SHELLS.includes(shell)) throw new TypeError(`judge: shell must be one of ${SHELLS.join(', ')}`);
  const verdict = decide(
    { actions: actionsOf(facts), rules: rulesOf(facts) },
    { command: text, args, env, stdin },
    factsOfFreshShell(workspace, {
      shell,
      directories: [directory],
      home,
      aliases: new Map(Object.entries(facts.aliases ?? {})),
      functions: new Map(Object.entries(facts.functions ?? {})),
      protectedPaths: facts.protectedPaths ?? [],
      secretPaths: facts.secretPaths ?? [],
      isExplained: true,
    }),
  );
  const { action, class: commandClass, reasons, commands, paths, hasUnknowns, isUnparsable } = verdict;
  return {
    action,
    class: commandClass,
    reasons,
    commands: commands.map(({ text: part, program, action: does, class: its, reasons: why, words = [] }) => {
      return { text: part, program, action: does, class: its, reasons: why, words };
    }),
    paths,
    hasUnknowns,
    isUnparsable,
  };
}

function checkPaths(paths: Readonly<Record<string, unknown>>): void {
  for (const [name, path] of Object.entries(paths)) {
    if (typeof path !== 'string' || !isAbsolute(path))
      throw new TypeError(
        `judge: ${name} must be an absolute path, and is ${path === undefined ? 'missing' : JSON.stringify(path)}`,
      );
  }
}

function actionsOf({ preset = 'balanced', classes = {} }: JudgeFacts): ClassActions {
  if (!Object.hasOwn(PRESETS, preset))
    throw new TypeError(`judge: preset must be one of ${Object.keys(PRESETS).join(', ')}`);
  for (const [name, action] of Object.entries(classes)) {
    if (!(COMMAND_CLASSES as readonly string[]).includes(name))
      throw new TypeError(`judge: ${name} is no class of commands: take one of ${COMMAND_CLASSES.join(', ')}`);
    if (!POLICY_ACTIONS.includes(action))
      throw new TypeError(`judge: the action of ${name} must be one of ${POLICY_ACTIONS.join(', ')}`);
  }
  return { ...PRESETS[preset], ...classes };
}

const rulesOf = ({ rules = [], home }: JudgeFacts): readonly PolicyRule[] =>
  rules.map((definition, index) => {
    const compiled = compileRule(definition, home);
    if ('rule' in compiled) return compiled.rule;
    const { field, message } = compiled.problem;
    throw new TypeError(`judge: rules[${index}].${field}: ${message}`);
  });
