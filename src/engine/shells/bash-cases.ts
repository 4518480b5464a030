/*
 * Texts that the bash of a session would not run as a script does, since it is interactive and has a driver. They are
 * recognised by their words, and steps of the driver make up for it. Any other text costs nothing.
 */

/** What may end a script: unset variables, `${x?}`, and errors in POSIX mode. */
const ENDING = /\bset\b[^\n;|&]*(?:-[a-zA-Z]*u|nounset|posix)|\$\{[^}\n]*\?/;
/** An alias has no effect in the compound command that defines it. */
const DEFINING_ALIASES = /\balias\b/;
/** What shows names of functions and variables. */
const LISTING = new RegExp(
  [
    String.raw`\b(?:declare|typeset|export|readonly|local)\b(?=\s+-\w*[pfF]|\s*(?:$|[|;&)<>\n]))`,
    String.raw`\bset\b(?=\s*(?:$|[|;&)<>\n]))`,
    String.raw`\b(?:compgen|type)\b|\bcommand\s+-[vV]|\$\{!_`,
  ].join('|'),
  'm',
);
const EXIT = /\bexit\b/;
/** What asks about the name `exit` alone does not call it. */
const ASKING_ABOUT_EXIT = /\b(?:type|command\s+-[vV])\b[^\n;|&]*\bexit\b/g;
/** What may change the words by which the driver comes back. */
const CHANGING_NAMES = /\b(?:enable|alias|eval)\b|\bcompgen\s+-\w*[bk]/;
const TRAP_ON_EXIT = /\btrap\b[^\n]*\b(?:EXIT|0)\b/;
const LEAVING_A_LOOP = /\b(?:break|continue)\b/;
const LOOP = /\b(?:for|while|until|select)\b/;
const TRACING = /\bset\b[^\n;|&]*(?:-[a-zA-Z]*x|xtrace)/;

/** Descriptors in which bash keeps what a redirection replaces. */
const TAKING_NUMBERS = /\bexec\b[^\n]*\b1\d[<>]/;
const LASTPIPE = /\blastpipe\b/;

/** In a script a trace has one `+`, and `break` outside of a loop says so. */
const runsApart = (text: string): boolean => TRACING.test(text) || (LEAVING_A_LOOP.test(text) && !LOOP.test(text));
const exits = (text: string): boolean => EXIT.test(text.replaceAll(ASKING_ABOUT_EXIT, ''));
const lists = (text: string): boolean => LISTING.test(text) && !exits(text) && !CHANGING_NAMES.test(text);

/** The steps of the driver, in their order, and the texts that need them. */
const STEPS: readonly (readonly [step: string, isFor: (text: string) => boolean])[] = [
  ['__sa_make_whole', (text) => ENDING.test(text) && !DEFINING_ALIASES.test(text)],
  ['__sa_note_exit_trap', (text) => TRAP_ON_EXIT.test(text) && exits(text)],
  ['__sa_without_jobs', (text) => LASTPIPE.test(text)],
  ['__sa_free_numbers', (text) => TAKING_NUMBERS.test(text)],
  ['__sa_hide', lists],
  ['__sa_run_apart', runsApart],
];

/** Returns the steps of the driver before a command that its words make necessary. */
export const stepsBefore = (text: string): readonly string[] =>
  STEPS.flatMap(([step, isFor]) => (isFor(text) ? [step] : []));
