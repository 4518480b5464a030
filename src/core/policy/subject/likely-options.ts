import { kindOf, type PathKind } from '../paths/path-kinds.js';
import { resolvePath } from '../paths/paths.js';
import type { Argument } from '../words/argument.js';
import { tailOf } from './options.js';
import type { ProgramSpec } from './program-spec.js';
import type { CommandAnalysis } from './command-analysis.js';

/** Names of options whose value most programs take for a file or directory that they write. */
const OUTPUT =
  /^--?(?:o|O|d|out|output|(?:out|output|log|report|result|dest|destination|target|export|dump|trace|save|write)[-_]?(?:file|dir|directory|path|batch|to)?|\w*(?:profile|Profile)|redirect-warnings|outFile|outDir|outputFile|outputDirectory|junitxml|html-report|report-dir)$/;
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

/** Whether a path leads out of the workspace, to a place that matters. */
function isElsewhere({ inquiry, scope }: CommandAnalysis, { value, isGlob }: Argument): boolean {
  const paths = value === undefined ? [] : resolvePath(value, scope.directories);
  return paths.some((path) => !ORDINARY.has(kindOf(path, inquiry.facts, isGlob)));
}
