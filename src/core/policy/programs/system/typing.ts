import { splitOptions, typedCode, typedShell, unless, upTo, wordsOf } from '../../family/typing-rules.js';
import type { TypingProgram, TypingTable } from '../../model/typing.js';
import { each } from '../../subject/program-spec.js';

const SUDO_VALUED = wordsOf('-u -g -p -C -D -h -r -t -T -R -U --user --group --prompt --chdir --host --chroot');

/** sudo: with -i or -s and no command it starts a shell. A command in its arguments is judged separately. */
const asUser: TypingProgram['takes'] = (args) => {
  const { options, operands } = splitOptions(args, SUDO_VALUED);
  return operands.length === 0 && options.some((option) => /^(?:-[A-Za-z]*[is]|--login|--shell)$/.test(option));
};

const multiplexer: TypingProgram['takes'] = (args) => {
  const { operands } = splitOptions(args, wordsOf('-c -f -L -S -T'));
  const [subcommand = 'new', ...rest] = operands;
  if (/^(?:a|attach.*)$/.test(subcommand)) return true;
  return /^new/.test(subcommand) && !rest.includes('-d') && !args.some((arg) => /^-[VC]+$/.test(arg));
};

/** Programs that start a shell or an editor on the terminal. */
export const TYPING: TypingTable = {
  ...each('sudo doas', typedShell(asUser)),
  ...each('su runuser', typedShell(unless(/^(?:-[a-z]*c|--(?:session-)?command.*)$/))),
  ...each('nsenter unshare', typedShell(upTo(0, '-t -S -G -R -w --target --root --wd'))),
  chroot: typedShell(upTo(1, '')),
  machinectl: typedCode((args) => args.some((arg) => /^(?:shell|login)$/.test(arg))),
  ...each('visudo vipw vigr sudoedit', typedCode(unless(), 'terminal')),
  tmux: typedCode(multiplexer, 'terminal'),
  screen: typedCode(unless(/^-(?:ls|list|wipe|v|X|Q|[dD]m.*)$/), 'terminal'),
};
