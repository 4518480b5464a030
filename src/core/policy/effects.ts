import type { CommandClass, Finding } from './model.js';
import type { PathKind } from './path-kinds.js';

/** Class of an effect; one that is `fatal` is destructive, and cannot be undone. */
export type EffectClass = CommandClass | 'fatal';

/**
 * What judges can find, by the class that it has. A description follows the name of what has the effect, as `rm deletes`.
 * Its target takes the place of `{what}`, or follows a colon. Entries of programs and rules of variables have descriptions
 * of their own.
 */
const EFFECTS = {
  write: ['a scratch file', 'a temporary file that it has created'],
  execute: [
    'activates a Python environment in the shell',
    'has an option that is not known',
    'is not a known program',
    'may be an alias or a function',
    'may be another program',
    'runs a command',
    'runs a program',
    'runs a script',
    'runs code from its arguments',
    'runs the code on its input',
    'runs {what}',
    'sets up a tool in the shell',
    'signals processes',
    'starts a shell',
  ],
  network: ['opens a connection', 'uses another machine'],
  interactive: ['takes typed input that the policy cannot judge'],
  destructive: [
    'deletes remote data',
    'deletes the files that it finds',
    'deletes the files that it packs',
    'may destroy something',
    'moves the workspace',
    'moves {what}',
    'a path that is known only at run time',
    'a path that is known only at run time, and is / if its unknown part is empty',
    'replaces a device by a file',
    'signals a process of others',
    'signals a whole group of processes',
    'signals processes that are known only at run time',
  ],
  fatal: [
    'changes everything in a directory on which the machine depends',
    'overwrites a disk or the memory',
    'signals every process, or the first process of the machine',
    'starts copies of itself without end (a fork bomb)',
    'a directory on which everything depends',
    'a disk',
  ],
  privilege: [
    'connects to a service that controls this machine',
    'copies the mode of another file, which may have the set-user-ID bit',
    'gives a container access to files of this machine',
    'sets the set-user-ID or set-group-ID bit',
  ],
  persistence: [
    'changes a file that is executed or trusted later',
    'changes a setting for all repositories',
    'links to a path that must not be changed',
    'may change settings with which git runs programs',
    'puts temporary files into a system directory',
    'will run a program that a setting names',
  ],
  exfiltration: [
    'accepts connections from other machines',
    'puts a secret into an address',
    'reads a directory in which credentials are',
    'reads a disk or the memory directly, without file permissions',
    'reads a file that is known only at run time, and names one with credentials',
    'reads a private key',
    'reads credentials',
    'reads credentials of a cluster',
    'reads files with credentials',
    'reads the credentials of this machine',
    'sends a file',
    'sends data that is known only at run time',
    'sends files to another machine',
    'sends its input to another machine',
    'sends the output of a command',
    'sends {what}',
    'serves files to other machines',
  ],
  obfuscated: [
    'adds text to the input of the shell or to its history',
    'a pattern of zsh may run commands',
    'a subscript may run a command',
    'a substitution cannot be parsed',
    'an alias follows an alias',
    'an alias replaces a keyword of the shell',
    'are nested more than {what} deep',
    'arithmetic evaluates a value that is known only at run time, and may run a command',
    'changes how all later text is parsed',
    'changes how later commands run or are recorded',
    'changes the meaning of words',
    'changes what the command history records',
    'changes where zsh finds programs',
    'changes which program a name refers to',
    'connects a program to another address',
    'contains letters that look like ASCII letters',
    'creates a file whose name other programs take for an option',
    'defines a function with a name that shell-adapter reserves',
    'expands its text as a prompt, which may run commands',
    'flags of a zsh expansion may run commands',
    'installs packages from another index, whose owner can run code',
    'is a shell whose language cannot be judged',
    'is known only at run time',
    'may run code that it fetches or decodes',
    'may run code that it reads from its input',
    'may run commands',
    'reads its start directories from a file',
    'redirects the input of all later commands in this shell',
    'runs a command that is known only at run time',
    'runs a file in the shell of the session, which may change its state',
    'runs a file that {what}',
    'runs a program that a setting names',
    'runs a program that is too long to be judged',
    'runs a program that the option names',
    'runs a script from a file, which is not read',
    'runs a script of which a part is known only at run time',
    'runs a script that cannot be judged',
    'runs a start-up file first',
    'runs code from a file descriptor',
    'runs code from another machine',
    'runs code from its input, which cannot be judged',
    'runs code that cannot be judged',
    'runs code that is known only at run time',
    'runs commands',
    'runs commands from its arguments or its input',
    'runs commands on another machine',
    'runs commands or writes files',
    'runs input from {what}',
    'runs statements that cannot be judged',
    'runs the output of another command',
    'runs the input, which cannot be judged',
    'takes away what protects git in checkouts',
    'the text cannot be parsed',
    'the value of a variable is run as a prompt',
    'the value of a variable is used as a name, whose subscript may run a command',
    'uses a repository with other settings',
    'writes a file that the same text runs',
    '{what}',
  ],
} as const satisfies Readonly<Partial<Record<EffectClass, readonly string[]>>>;

/** An effect that judges can find. */
export type Effect = (typeof EFFECTS)[keyof typeof EFFECTS][number];

const CLASSES = new Map<string, EffectClass>(
  Object.entries(EFFECTS).flatMap(([name, effects]) => effects.map((effect) => [effect, name as EffectClass] as const)),
);

/**
 * The finding about an effect.
 * @param it what has the effect; may be empty
 * @param isOfProgram whether a rule that allows the program covers it
 */
export function findingOf(effect: Effect, it: string, what = '', isOfProgram = true): Finding {
  const target = what === '' ? '' : `: ${what}`;
  const told = effect.includes('{what}') ? effect.replace('{what}', () => what) : effect + target;
  return statedFinding(CLASSES.get(effect) ?? 'obfuscated', it, told, isOfProgram);
}

/** What a program of a class does, where its entry has no other reason. */
const CLASS_DESCRIPTIONS: Readonly<Partial<Record<EffectClass, string>>> = {
  write: 'changes files',
  execute: 'runs a program',
  network: 'uses the network',
  destructive: 'deletes or ends something',
  privilege: 'changes the whole machine',
  persistence: 'changes what runs later',
  exfiltration: 'sends data away',
  obfuscated: 'cannot be judged',
};

/** The finding about an effect that an entry states. Damage that cannot be undone is not covered by any rule. */
export function statedFinding(
  effect: EffectClass,
  it: string,
  told: string = CLASS_DESCRIPTIONS[effect] ?? '',
  isOfProgram = true,
): Finding {
  const reason = `${it} ${told}`.trim();
  if (effect === 'fatal') return { class: 'destructive', reason, isOfProgram: false, isCatastrophe: true };
  return { class: effect, reason, isOfProgram };
}

/** Class and description of a write, by the kind of place. */
export const WRITING: Readonly<Record<PathKind, { readonly class: CommandClass; readonly what: string }>> = {
  harmless: { class: 'read', what: '' },
  network: { class: 'exfiltration', what: 'sends data over a network connection' },
  device: { class: 'destructive', what: 'writes to a device' },
  protected: { class: 'persistence', what: 'changes a file of shell-adapter itself' },
  startup: { class: 'persistence', what: 'changes a file that is executed or trusted later' },
  system: { class: 'persistence', what: 'changes a system file' },
  workspace: { class: 'write', what: 'writes in the workspace' },
  scratch: { class: 'write', what: 'writes in a scratch directory' },
  outside: { class: 'destructive', what: 'writes outside the workspace' },
  unknown: { class: 'obfuscated', what: 'writes to a path that is known only at run time' },
};
