import { inspect, type Inspection, type PolicyRequest } from './analysis/inspect.js';
import type { PolicyRule } from './rules.js';
import {
  type CommandClass,
  type Finding,
  type JudgedCommand,
  type Loss,
  POLICY_LIMITS,
  type PolicyAction,
  type PolicyFacts,
  rankOf,
  stricter,
  type TakenWord,
  type TypedLanguage,
} from './model.js';
import { PROGRAMS } from './programs/programs.js';

/** Action for the commands of each class. */
export type ClassActions = Readonly<Record<CommandClass, PolicyAction>>;

/** Names of the presets, from the mildest to the strictest. */
export const PRESET_NAMES = ['permissive', 'balanced', 'strict'] as const;

/** Name of a preset. */
export type PresetName = (typeof PRESET_NAMES)[number];

/**
 * The presets. Unknown effects (`obfuscated`) are never treated more mildly than the strictest other class. A
 * catastrophe, such as deleting the system, is denied by all presets: see `Finding.isCatastrophe`.
 */
export const PRESETS: Readonly<Record<PresetName, ClassActions>> = {
  permissive: {
    read: 'allow',
    write: 'allow',
    execute: 'allow',
    network: 'allow',
    interactive: 'allow',
    destructive: 'checkpoint',
    privilege: 'allow',
    persistence: 'allow',
    exfiltration: 'confirm',
    obfuscated: 'confirm',
  },
  balanced: {
    read: 'allow',
    write: 'allow',
    execute: 'allow',
    network: 'allow',
    interactive: 'confirm',
    destructive: 'checkpoint',
    privilege: 'confirm',
    persistence: 'confirm',
    exfiltration: 'confirm',
    obfuscated: 'confirm',
  },
  strict: {
    read: 'allow',
    write: 'confirm',
    execute: 'confirm',
    network: 'confirm',
    interactive: 'confirm',
    destructive: 'confirm',
    privilege: 'confirm',
    persistence: 'confirm',
    exfiltration: 'confirm',
    obfuscated: 'confirm',
  },
};

/** Settings by which commands are allowed, confirmed or denied. */
export interface Policy {
  readonly actions: ClassActions;
  readonly rules: readonly PolicyRule[];
}

/** Cause of a confirmation: the command's class, or a rule. */
type ConfirmationCause = CommandClass | 'rule';

/** Verdict on one simple command. */
export interface CommandVerdict {
  /** Source text, or without the programs around it; at most 200 characters. */
  readonly text: string;
  /** Undefined when it is unknown before run time, or when there is no program. */
  readonly program: string | undefined;
  readonly action: PolicyAction;
  readonly class: CommandClass;
  readonly reasons: readonly string[];
  /** What its words were taken for, where the facts ask for that. */
  readonly words?: readonly TakenWord[];
}

/** Verdict on a request: as strict as for the worst part of it. */
export interface PolicyVerdict {
  readonly action: PolicyAction;
  readonly class: CommandClass;
  /** For people and models; empty for a harmless command without a finding. */
  readonly reasons: readonly string[];
  readonly commands: readonly CommandVerdict[];
  /**
   * Causes of the confirmation or checkpoint: each class that requires it, and `rule` when a rule does. Empty when none
   * is required.
   */
  readonly causes: readonly ConfirmationCause[];
  /** Names may have another meaning in the session afterwards. */
  readonly changesNames: boolean;
  /** The parser cannot read the text or a part of it; the shell may also reject it. */
  readonly isUnparsable: boolean;
  /** It contains a program that executes typed input while it runs. */
  readonly takesTyping: boolean;
  /** A word or a path in it is known only when it runs. */
  readonly hasUnknowns: boolean;
  /** Absolute paths that it accesses, as far as they are known. */
  readonly paths: readonly string[];
  /** Those of them whose content it runs. */
  readonly scripts: readonly string[];
  /** Directories from which it looks for repositories of git. */
  readonly repositories: readonly string[];
  /** What a checkpoint has to contain, where the action is `checkpoint`. */
  readonly losses: readonly Loss[];
}

/** Decides on a request, by what is known about programs. Never throws. */
export const decide = (
  policy: Policy,
  request: PolicyRequest,
  facts: PolicyFacts,
  programs = PROGRAMS,
): PolicyVerdict => decideInspected(policy, request, inspect(request, facts, programs));

/** Verdict on input for a program that executes typed input. */
export interface TypingVerdict extends PolicyVerdict {
  readonly language: TypedLanguage;
}

/**
 * Decides whether a running program may receive typed input. Its other effects are not judged again.
 * @returns undefined when it does not execute typed input
 */
export function decideTyping(policy: Policy, request: PolicyRequest, facts: PolicyFacts): TypingVerdict | undefined {
  const commands = inspect(request, facts).commands.flatMap((command) =>
    command.typed ? [{ ...command, findings: command.findings.filter((each) => each.class === 'interactive') }] : [],
  );
  if (commands.length === 0) return undefined;
  const language = commands.every(({ typed }) => typed === 'shell') ? 'shell' : 'code';
  return {
    ...decideInspected(policy, request, { commands, notes: [], changesNames: false, isUnparsable: false }),
    language,
  };
}

function decideInspected(policy: Policy, request: PolicyRequest, inspection: Inspection): PolicyVerdict {
  const { commands, notes, changesNames, isUnparsable } = inspection;
  const judged = commands.map((command) => decideCommand(policy, command));
  const whole = combine([...notes.map((note) => decideFinding(policy, note)), ...matchText(policy, request)]);
  const all = [whole, ...judged];
  const worst = all.reduce(stricterDecision);
  const reasons = all.toSorted((a, b) => compare(b, a)).flatMap((verdict) => verdict.reasons);
  return {
    action: worst.action,
    class: worst.class,
    reasons: [...new Set(reasons)].slice(0, POLICY_LIMITS.maxReasons),
    commands: judged,
    causes: [...new Set(all.flatMap(({ causes }) => causes))],
    changesNames,
    isUnparsable,
    takesTyping: commands.some(({ typed }) => typed !== undefined),
    hasUnknowns: commands.some(({ args, hasUnknownPaths }) => hasUnknownPaths || args.includes(undefined)),
    paths: [...new Set(commands.flatMap(({ paths }) => paths))],
    scripts: [...new Set(commands.flatMap(({ scripts = [] }) => scripts))],
    repositories: [...new Set(commands.flatMap(({ repositories = [] }) => repositories))],
    losses: commands.flatMap(({ findings }) => findings.flatMap(({ losses = [] }) => losses)),
  };
}

/** Requires a confirmation in place of a checkpoint. */
export const confirmInstead = (verdict: PolicyVerdict, reason: string): PolicyVerdict => ({
  ...verdict,
  action: 'confirm',
  reasons: [reason, ...verdict.reasons].slice(0, POLICY_LIMITS.maxReasons),
});

/** The policy for places in which no checkpoint can be made: a confirmation is required instead. */
export const withoutCheckpoints = ({ actions, rules }: Policy): Policy => ({
  actions: Object.fromEntries(
    Object.entries(actions).map(([name, action]) => [name, action === 'checkpoint' ? 'confirm' : action]),
  ) as ClassActions,
  rules: rules.map((rule) => (rule.action === 'checkpoint' ? { ...rule, action: 'confirm' } : rule)),
});

/** Adds what was found out elsewhere about a request. */
export function addFinding(policy: Policy, verdict: PolicyVerdict, finding: Finding): PolicyVerdict {
  const found = decideFinding(policy, finding);
  const { action, class: commandClass } = stricterDecision<Decision>(found, verdict);
  return {
    ...verdict,
    action,
    class: commandClass,
    reasons: [...new Set([...found.reasons, ...verdict.reasons])].slice(0, POLICY_LIMITS.maxReasons),
    causes: [...new Set([...found.causes, ...verdict.causes])],
  };
}

interface Severity {
  readonly action: PolicyAction;
  readonly class: CommandClass;
}

/** A reason and the action that follows from it. */
interface Decision extends Severity {
  readonly reasons: readonly string[];
  readonly causes: readonly ConfirmationCause[];
}

const HARMLESS: Decision = { action: 'allow', class: 'read', reasons: [], causes: [] };

type JudgedVerdict = CommandVerdict & Decision;

function decideCommand({ actions, rules }: Policy, command: JudgedCommand): JudgedVerdict {
  const matches = rules.map((rule) => ({ rule, match: rule.match(command) })).filter(({ match }) => match !== 'no');
  const allowing = matches.find(({ rule, match }) => rule.action === 'allow' && match === 'yes')?.rule;
  const decisions = command.findings.map((finding): Decision => {
    const isAllowed = allowing !== undefined && finding.isOfProgram && finding.isCatastrophe !== true;
    return isAllowed
      ? { action: 'allow', class: finding.class, reasons: [allowing.reason], causes: [] }
      : decideFinding({ actions, rules }, finding);
  });
  for (const { rule, match } of matches) {
    if (rule.action === 'allow') continue;
    const isSure = match === 'yes';
    const reason = isSure ? rule.reason : `${rule.reason} (it may apply: this is known only at run time)`;
    const { class: commandClass } = combine(decisions);
    // A rule that may apply, but not certainly, requires a confirmation.
    decisions.push(ofRule(isSure ? rule.action : 'confirm', commandClass, reason));
  }
  const { text, program, words } = command;
  return { text, program, ...(words && { words }), ...combine(decisions) };
}

/** Rules that consist of an expression alone are also matched against the text of the whole request: `curl … | sh`. */
function matchText({ rules }: Policy, { command, args = [] }: PolicyRequest): readonly Decision[] {
  const text = [command, ...args].join(' ');
  return rules.flatMap((rule) => {
    const match = rule.action === 'allow' ? 'no' : rule.matchText(text);
    if (match === 'no') return [];
    return [ofRule(match === 'yes' ? rule.action : 'confirm', 'read', rule.reason)];
  });
}

const ofRule = (action: PolicyAction, commandClass: CommandClass, reason: string): Decision => {
  return { action, class: commandClass, reasons: [reason], causes: isRestrained(action) ? ['rule'] : [] };
};

function decideFinding({ actions }: Policy, finding: Finding): Decision {
  const action = actionOn(finding, actions);
  return {
    action,
    class: finding.class,
    reasons: finding.reason === '' ? [] : [finding.reason],
    causes: isRestrained(action) ? [finding.class] : [],
  };
}

/** A checkpoint is no substitute for a confirmation where it cannot bring back what is destroyed, or undo the effect. */
function actionOn(finding: Finding, actions: ClassActions): PolicyAction {
  if (finding.isCatastrophe === true) return 'deny';
  const action = actions[finding.class];
  const isBeyondFiles = rankOf(finding.class) >= rankOf('destructive') && finding.losses === undefined;
  return action === 'checkpoint' && isBeyondFiles ? 'confirm' : action;
}

const isRestrained = (action: PolicyAction): boolean => action === 'confirm' || action === 'checkpoint';

/** The strictest decision, with the reasons of all of them, the strictest first. */
function combine(decisions: readonly Decision[]): Decision {
  const [first = HARMLESS, ...others] = decisions;
  if (others.length === 0) return first;
  const sorted = decisions.toSorted((a, b) => compare(b, a));
  const { action, class: commandClass } = sorted.reduce(stricterDecision, HARMLESS);
  return {
    action,
    class: commandClass,
    reasons: [...new Set(sorted.flatMap(({ reasons }) => reasons))],
    causes: sorted.flatMap(({ causes }) => causes),
  };
}

/** Order by action, then by class. */
function compare(a: Severity, b: Severity): number {
  if (a.action !== b.action) return stricter(a.action, b.action) === a.action ? 1 : -1;
  return rankOf(a.class) - rankOf(b.class);
}

const stricterDecision = <T extends Severity>(a: T, b: T): T => (compare(a, b) >= 0 ? a : b);

/** Description of the effect of each class, for a person who cannot see the command. */
const EFFECTS: Readonly<Record<CommandClass, string>> = {
  read: 'only reads',
  write: 'writes in the workspace',
  execute: 'runs a program',
  network: 'communicates with other machines',
  interactive: 'takes typed input that the policy cannot judge',
  destructive: 'deletes or overwrites something, or ends processes',
  privilege: 'acts as another user, or changes the whole machine',
  persistence: 'changes what runs later, or system files',
  exfiltration: 'reads credentials, or sends data away',
  obfuscated: 'has an effect that is known only at run time',
};

/** Placeholder for a name that may be part of a password. */
const NAME_PLACEHOLDER = 'a program';

/**
 * The same verdict about typed text, without any part of the text, which may be the answer to a password prompt. The
 * classes and the names of known programs remain.
 */
export function withoutTypedText(verdict: PolicyVerdict): PolicyVerdict {
  const commands = verdict.commands.map((command) => {
    const name =
      command.program !== undefined && PROGRAMS.isKnown(command.program) ? command.program : NAME_PLACEHOLDER;
    const reasons = command.action === 'allow' ? [] : [`${name} ${EFFECTS[command.class]}`];
    const { action, class: commandClass } = command;
    const program = name === NAME_PLACEHOLDER ? undefined : name;
    return { action, class: commandClass, text: name, program, reasons };
  });
  const reasons = [...new Set(commands.flatMap((command) => command.reasons))];
  const known = { paths: [], scripts: [], repositories: [], losses: [] };
  return { ...verdict, ...known, commands, reasons: reasons.length > 0 ? reasons : [`it ${EFFECTS[verdict.class]}`] };
}
