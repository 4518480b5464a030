import { isSecret, kindOf, type PathKind } from '../paths/path-kinds.js';
import { isWithin, resolvePath } from '../paths/paths.js';
import type { Argument } from '../words/argument.js';
import { tailOf } from './options.js';
import type { ProgramSpec } from './program-spec.js';
import { subcommandsIn } from './subcommands.js';
import type { CommandAnalysis } from './command-analysis.js';

/** Names of options whose value most programs take for a file or directory that they write. */
const OUTPUT =
  /^--?(?:o|O|d|out|output|base-?temp|te?mp-?dir|(?:out|output|log|report|result|dest|destination|target|export|dump|trace|save|write)[-_]?(?:file|dir|directory|path|batch|to)?|\w*(?:profile|Profile)|redirect-warnings|outFile|outDir|outputFile|outputDirectory|junitxml|html-report|report-dir)$/;
/** Names of options with which programs change the files that are their operands. */
const EDITING = /^(?:-w|-i|--write|--fix|--in-place|--inplace|--overwrite|--update|--apply|--autocorrect)$/;
/** Names of options whose value is likely to be run as a command. */
const HOOK =
  /^--?(?:exec|execute|command|cmd|run|pager|editor|hook|preview|runner|wrapper|launcher|shell|(?:pre|post|init|on|before|after|setup|cleanup)[-_][\w-]+)$/;

/** Kinds of places that a program without a table may change unasked. */
const ORDINARY: ReadonlySet<PathKind> = new Set(['workspace', 'scratch', 'harmless', 'unknown']);

/** The options of a command that resemble `name`, with their values. */
function* optionsLike({ args }: CommandAnalysis, name: RegExp): Generator<{ option: string; value: Argument }> {
  for (const [index, arg] of args.entries()) {
    const [option = '', file] = /^(--?\w[\w-]*)(?:=(.*))?$/s.exec(arg.shape)?.slice(1) ?? [];
    if (!name.test(option)) continue;
    const value = file === undefined ? args[index + 1] : tailOf(arg, option.length + 1);
    if (value) yield { option, value };
  }
}

/**
 * Judges the files that options are likely to write, outside of the workspace.
 * @param known options of which more is known
 */
export function judgeOutputs(subject: CommandAnalysis, known: NonNullable<ProgramSpec['options']>): void {
  for (const { option, value } of optionsLike(subject, OUTPUT)) {
    if (!Object.hasOwn(known, option) && isElsewhere(subject, value)) subject.write(value);
  }
}

/** Judges the operands of a program that is told to change its operands, outside of the workspace. */
export function judgeEditing(subject: CommandAnalysis): void {
  if (!subject.args.some(({ shape }) => EDITING.test(shape))) return;
  for (const arg of subject.args) if (!arg.shape.startsWith('-') && isElsewhere(subject, arg)) subject.write(arg);
}

/** Judges the values of options that are likely to be commands. */
export function judgeHooks(subject: CommandAnalysis): void {
  for (const { value } of optionsLike(subject, HOOK)) {
    if (value.value !== undefined && /\s/.test(value.value)) subject.inquiry.judgeText(value.value, subject.scope);
  }
}

/** Options whose value is text for people, or data: it may look like a command. */
const DESCRIBING =
  /^(?:-[a-zA-Z]*[mdbtDSFHk]|--?(?:message|title|body|notes?|description|subject|data[\w-]*|grep|labels?|name|comment|text|header|form[\w-]*|summary|value|json|field|raw-field|filter|query|env))$/;
/** Programs that destroy something, as the first word of a text. */
const DESTROYER = /^(?:sudo|doas|rm|rmdir|unlink|shred|dd|mkfs(?:\.\w+)?|wipefs|truncate|shutdown|reboot)\s/;
/** Subcommands after which a command follows. */
const EXECUTING = /^(?:exec|x|ssh|shell|console|env|enter|with|attach|run-command)$/;

/** Judges a command after `--`, and values of options that are commands which destroy something. */
export function judgeExecuted(subject: CommandAnalysis): void {
  const { args } = subject;
  const end = args.findIndex(({ shape }) => shape === '--');
  const command = args[end + 1];
  const runsIt = args.slice(0, Math.max(0, end)).some(({ shape }) => EXECUTING.test(shape));
  if (runsIt && command && !command.shape.startsWith('-')) subject.runWords(args.slice(end + 1));
  for (const { option, value } of optionsLike(subject, /^-/)) {
    if (DESTROYER.test(value.shape) && !DESCRIBING.test(option))
      subject.runText(value, `the command that ${subject.program ?? 'it'} runs`);
  }
}

/** Verbs that destroy what they are applied to, also as `db:drop` and `delete-stack`. */
const DESTROYING =
  /^(?:[\w-]+:)*(?:destroy|delete|drop|reset|purge|uninstall|terminate|wipe|flush\w*|unpublish)(?:[-_:]\w[\w:-]*)?$/;
/** Verbs after which another word is no verb. */
const OTHER_VERB =
  /^(?:run|test|exec|build|start|lint|check|watch|info|show|help|list|ls|get|search|describe|view|explain|new|add|create|generate)$/;
/** Programs whose first operand is a pattern of tests. */
const TEST_RUNNER = /^(?:jest|vitest|mocha|ava|pytest|py\.test|rspec|phpunit|ctest|tap|playwright|cypress|karma|tox)$/;

/** Judges the words of a program without a table that may be its subcommand: alone, or after the kind of an object. */
export function judgeVerbs(subject: CommandAnalysis): void {
  const { args, program = 'it' } = subject;
  if (TEST_RUNNER.test(program)) return;
  for (const { name, rest } of subcommandsIn(args, {})) {
    const [next] = OTHER_VERB.test(name.shape) ? [] : rest;
    const verb = [name, next].find((word) => word?.value !== undefined && DESTROYING.test(word.value));
    if (verb) subject.add('destructive', `${program} may destroy something: ${verb.text}`);
  }
}

/** Options that name a file which most programs only read. */
const READING =
  /^--?(?:i|c|f|F|config[\w-]*|rcfile|kubeconfig|userconfig|identity[\w-]*|(?:[\w-]+-)?key[\w-]*|cert[\w-]*|ca[\w-]*|credentials?[\w-]*|[\w-]+-file|profile|inventory|settings|source|input|from|include|file)$/;

/**
 * Judges values of options that are files at home with credentials, or that run later.
 * @param known options of which more is known
 */
export function judgeOptionPaths(subject: CommandAnalysis, known: NonNullable<ProgramSpec['options']>): void {
  for (const { option, value } of optionsLike(subject, /^-/)) {
    if (Object.hasOwn(known, option)) continue;
    const file = tailOf(value, /^(?:@|[\w.-]+=@?)/.exec(value.shape)?.[0].length ?? 0);
    for (const path of pathsElsewhere(subject, file)) {
      if (isSecret(path, subject.inquiry.facts)) subject.read(file);
      else if (kindOf(path, subject.inquiry.facts) === 'startup' && !READING.test(option)) subject.write(file);
    }
  }
}

/** The absolute paths of an argument that lead out of the workspace, to places that matter. */
function pathsElsewhere({ inquiry, scope }: CommandAnalysis, { value, isGlob }: Argument): readonly string[] {
  const paths = value?.includes('/') === true ? resolvePath(value, scope.directories) : [];
  const { facts } = inquiry;
  return paths.filter(
    (path): path is string =>
      path !== undefined && !isWithin(path, facts.workspace) && !ORDINARY.has(kindOf(path, facts, isGlob)),
  );
}

/** Whether a path leads out of the workspace, to a place that matters. */
function isElsewhere({ inquiry, scope }: CommandAnalysis, { value, isGlob }: Argument): boolean {
  const paths = value === undefined ? [] : resolvePath(value, scope.directories);
  return paths.some((path) => !ORDINARY.has(kindOf(path, inquiry.facts, isGlob)));
}
