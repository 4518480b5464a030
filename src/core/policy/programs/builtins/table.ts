import {
  judgeAlias,
  judgeDeclaration,
  judgeEval,
  judgeHistory,
  judgeNames,
  judgePrint,
  judgeSource,
  judgeTrap,
} from './judge.js';
import { each, type ProgramTable, valued } from '../../subject/program-spec.js';

const text = { operands: 'text' } as const;

/** Commands that shells run internally. */
export const SPECS: ProgramTable = {
  ...each(
    ': echo cd pushd popd dirs jobs fg bg disown umask ulimit times type help exit return break continue shift caller suspend logout chdir bye limit unlimit rehash where whence',
    { class: 'read', ...text },
  ),
  printf: { class: 'read', ...text, judge: judgeNames },
  print: { class: 'read', ...text, judge: judgePrint },
  ...each('read let unset getopts test [ vared integer float wait', { class: 'read', ...text, judge: judgeNames }),
  ...each('declare typeset export readonly local', { class: 'read', ...text, judge: judgeDeclaration }),
  ...each('eval', { class: 'read', ...text, judge: judgeEval }),
  ...each('source .', { class: 'read', ...text, judge: judgeSource }),
  ...each('alias', { class: 'read', ...text, judge: judgeAlias }),
  trap: { class: 'read', ...text, judge: judgeTrap },
  ...each('unalias unfunction unhash', {
    class: 'read',
    ...text,
    judge: (subject) => {
      subject.inquiry.noteNamesChange();
    },
  }),
  ...each('set shopt setopt unsetopt', { class: 'read', ...text, judge: judgeHistory }),
  ...each('mapfile readarray', {
    class: 'read',
    ...text,
    options: { '-C': { value: 'shell' }, ...valued('-d -n -O -s -u -c') },
    judge: judgeNames,
  }),
  complete: { class: 'read', ...text, options: { '-C': { value: 'shell' }, ...valued('-F -A -G -W -P -S -X -o') } },
  compgen: {
    class: 'read',
    ...text,
    options: { '-C': { value: 'shell' }, ...valued('-F -A -G -P -S -X -o'), '-W': { value: 'code' } },
  },
  bind: {
    class: 'read',
    ...text,
    options: {
      '-x': { class: 'obfuscated', reason: 'binds a command to a key', value: 'text' },
      '-f': { class: 'obfuscated', value: 'text' },
    },
  },
  hash: {
    class: 'read',
    ...text,
    options: { '-p': { class: 'obfuscated', reason: 'changes which program a name refers to', value: 'text' } },
    judge: (subject) => {
      judgeNames(subject);
      // zsh: `hash ls=/bin/rm`.
      if (!subject.args.some(({ shape }) => /^[^-=]+=/.test(shape))) return;
      subject.add('obfuscated', 'hash changes which program a name refers to');
      subject.inquiry.noteNamesChange();
    },
  },
  enable: {
    class: 'execute',
    ...text,
    options: { '-f': { class: 'obfuscated', reason: 'loads code into the shell', value: 'text' } },
    judge: (subject) => {
      subject.inquiry.noteNamesChange();
    },
  },
  history: {
    class: 'read',
    ...text,
    options: {
      ...each('-c -d -w -a -n -r -s', { class: 'obfuscated', reason: 'changes the command history', value: 'text' }),
      '-p': {},
    },
  },
  fc: { class: 'obfuscated', reason: 'runs commands from the history', ...text, options: { '-l': {} } },
  r: { class: 'execute', ...text },
  emulate: {
    class: 'obfuscated',
    reason: 'changes how the shell reads text',
    ...text,
    options: { '-c': { value: 'shell' } },
  },
  ...each(
    'zmodload autoload zle sched zcompile zargs bindkey functions disable zstyle zformat ztcp zsocket zpty zf_rm zf_mv zf_ln zf_chmod zf_chown',
    {
      class: 'obfuscated',
      reason: 'changes the shell itself',
      ...text,
      judge: (subject) => {
        subject.inquiry.noteNamesChange();
      },
    },
  ),
};
