import { literal } from '../../words/argument.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { hasOption, parseArguments } from '../../subject/options.js';
import { GREP_OPTIONS } from '../../subject/piped-file-names.js';

/** How a program searches directories. */
interface Search {
  /** Arguments with which it does so; undefined if always. */
  readonly walks?: RegExp;
  /** Arguments with which it does not leave out hidden files; undefined if it never does. */
  readonly seesHidden?: RegExp;
}

/** `grep -r`, `rg` and the like: reads everything below its operands. */
export const judgeSearch =
  ({ walks, seesHidden }: Search) =>
  (subject: CommandAnalysis): void => {
    const { args } = subject;
    if (walks && !args.some(({ shape }) => walks.test(shape))) return;
    const parsed = parseArguments(args, { options: GREP_OPTIONS });
    const hasPattern = hasOption(parsed, '-e', '-f', '--regexp', '--file');
    const operands = parsed.operands.slice(hasPattern ? 0 : 1);
    const names = parsed.options.flatMap(({ name, value }) =>
      /^(?:--include|-g|--glob)$/.test(name) && value?.value?.startsWith('!') === false ? [value.value] : [],
    );
    const filter = { names, seesHidden: !seesHidden || args.some(({ shape }) => seesHidden.test(shape)) };
    for (const place of operands.length > 0 ? operands : [literal('.')]) subject.readTree(place, filter);
  };

/** `grep` searches directories only when told to. */
export const GREP: Search = {
  walks: /^(?:-[A-Za-z]*[rR]|--recursive|--dereference-recursive|--directories=recurse|recurse$)/,
};
/** `rg` and the like leave out hidden files unless told otherwise. */
export const RIPGREP: Search = { seesHidden: /^(?:-\.|-[A-Za-z]*u|--hidden|--unrestricted|--no-ignore|-a$)/ };
