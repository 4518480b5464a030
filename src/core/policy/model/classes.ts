/**
 * Effect of a command on the machine and on others, from harmless to unknown. Of two classes that lead to the same
 * action, the later one names the verdict.
 *
 * - `read` only reads, including the session's own state.
 * - `write` changes files in the workspace or in a scratch directory.
 * - `execute` runs a program with unknown effects: a build, a test, a script.
 * - `network` communicates with other machines.
 * - `interactive` executes what is typed while it runs, which cannot be judged: a shell, an interpreter, an editor.
 * - `destructive` deletes or overwrites files outside the workspace, or ends processes of others.
 * - `privilege` acts as another user, or on the machine as a whole.
 * - `persistence` changes what runs later: start-up files, schedules, services, hooks, the system's own files.
 * - `exfiltration` reads credentials, or sends local data away.
 * - `obfuscated` cannot be judged from its text: the effect is decided at run time, or the text cannot be read.
 */
export const COMMAND_CLASSES = [
  'read',
  'write',
  'execute',
  'network',
  'interactive',
  'destructive',
  'privilege',
  'persistence',
  'exfiltration',
  'obfuscated',
] as const;

/** Class of a command. */
export type CommandClass = (typeof COMMAND_CLASSES)[number];

/**
 * Actions of the policy, from the mildest to the strictest. `checkpoint` saves the workspace, and runs the command without
 * a question if what it destroys can be brought back from there; otherwise it has to be confirmed.
 */
export const POLICY_ACTIONS = ['allow', 'checkpoint', 'confirm', 'deny'] as const;

/** Action of the policy. */
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

const CLASS_RANKS = new Map<CommandClass, number>(COMMAND_CLASSES.map((name, rank) => [name, rank]));
const ACTION_RANKS: Readonly<Record<PolicyAction, number>> = { allow: 0, checkpoint: 1, confirm: 2, deny: 3 };

/** Rank of a class in the order, from 0. */
export const rankOf = (name: CommandClass): number => CLASS_RANKS.get(name) ?? 0;

/** The stricter of two actions. */
export const stricter = (a: PolicyAction, b: PolicyAction): PolicyAction =>
  ACTION_RANKS[a] >= ACTION_RANKS[b] ? a : b;
