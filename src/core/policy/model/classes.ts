/**
 * What a command does to the machine and to others, from the harmless to what nobody can tell. Of two classes that lead
 * to the same action, the later one names the verdict.
 *
 * - `read` looks at things, and at the session's own state.
 * - `write` changes files in the workspace or in a scratch directory.
 * - `execute` runs a program of which no more is known: a build, a test, a script.
 * - `network` speaks to other machines.
 * - `interactive` executes what is typed while it runs, which cannot be judged: a shell, an interpreter, an editor.
 * - `destructive` deletes, overwrites what is not the workspace's, or ends what others have started.
 * - `privilege` acts as another user, or on the machine as a whole.
 * - `persistence` changes what runs later: start-up files, schedules, services, hooks, the system's own files.
 * - `exfiltration` reads credentials, or sends local data away.
 * - `obfuscated` cannot be told from its text: it is decided when it runs, or the text cannot be read.
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

/** One of the classes. */
export type CommandClass = (typeof COMMAND_CLASSES)[number];

/** What becomes of a command, from the mildest to the strictest. */
export const POLICY_ACTIONS = ['allow', 'confirm', 'deny'] as const;

/** One of the actions. */
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

const CLASS_RANKS = new Map<CommandClass, number>(COMMAND_CLASSES.map((name, rank) => [name, rank]));
const ACTION_RANKS: Readonly<Record<PolicyAction, number>> = { allow: 0, confirm: 1, deny: 2 };

/** Place of a class in the order, from 0. */
export const rankOf = (name: CommandClass): number => CLASS_RANKS.get(name) ?? 0;

/** The stricter of two actions. */
export const stricter = (a: PolicyAction, b: PolicyAction): PolicyAction =>
  ACTION_RANKS[a] >= ACTION_RANKS[b] ? a : b;
