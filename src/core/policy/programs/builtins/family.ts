import type { DirectoryChange, KnownOutput } from '../../words/program-knowledge.js';
import { normalizePath } from '../../paths/paths.js';
import type { ProgramFamily } from '../../family/program-family.js';
import { each, valued } from '../../subject/program-spec.js';
import { knownValues } from '../../subject/read-command.js';
import { EXAMPLES } from './examples.js';
import { formatted } from './printed-text.js';
import { SPECS } from './table.js';

/** `cd`, `pushd` and similar builtins; without an operand, `atHome` tells whether the home directory is entered. */
const enters =
  (atHome: boolean): DirectoryChange =>
  (args, directories, home) => {
    const [target, ...others] = args.filter(({ shape }) => !/^-[LPe@]*$/.test(shape) || shape === '-');
    if (!target) return atHome ? [home] : [undefined];
    // zsh: `cd OLD NEW` replaces one name by another.
    if (others.length > 0) return [undefined];
    const { value } = target;
    if (value === undefined || target.isGlob || value === '-' || /^[+-]\d+$/.test(value)) return [undefined];
    if (value.startsWith('/')) return [normalizePath(value, '/')];
    return directories.map((directory) => (directory === undefined ? undefined : normalizePath(value, directory)));
  };

const echoed: KnownOutput = ({ args }) => {
  const values = knownValues(args);
  // Some shells resolve escapes, others do not.
  if (!values || values.some((value) => value.includes('\\'))) return undefined;
  return `${values.filter((value, index) => index > 0 || value !== '-n').join(' ')}\n`;
};

const printed: KnownOutput = ({ args }) => {
  const [format, ...rest] = knownValues(args) ?? [];
  return format === undefined || format.startsWith('-') ? undefined : formatted(format, rest);
};

/** Commands that shells run internally. */
export const BUILTINS: ProgramFamily = {
  name: 'builtins',
  programs: SPECS,
  wrappers: {
    builtin: {},
    command: { asks: ['-v', '-V'] },
    exec: { options: valued('-a'), redirectsShell: true },
    ...each('noglob nocorrect -', {}),
    repeat: { skips: 1 },
    // Also a subcommand of `cmake -E`, followed by a directory and a command.
    chdir: { skips: 1, isElsewhere: true },
  },
  traits: {
    builtin: Object.keys(SPECS).join(' '),
    prefix: 'command builtin exec noglob nocorrect -',
    runnable: 'eval',
    metadata: 'test [',
    unread: 'echo printf true',
    declares: 'declare typeset local export readonly integer float',
    variables:
      'read mapfile readarray printf getopts let declare typeset local readonly export unset eval source . wait select vared coproc set shift alias trap zmodload emulate',
    anyVariable: 'eval source . trap emulate zmodload',
  },
  outputs: { echo: echoed, printf: printed },
  directories: { ...each('pushd chdir', enters(false)), cd: enters(true), popd: () => [undefined] },
  examples: EXAMPLES,
};
