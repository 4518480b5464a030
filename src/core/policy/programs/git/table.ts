import {
  GIT_OPTIONS,
  judgeGit,
  judgeGitBundle,
  judgeGitCheckout,
  judgeGitClean,
  judgeGitDiff,
  judgeGitForeach,
  judgeGitGrep,
  judgeGitPush,
  judgeGitReset,
} from './judge.js';
import { CONFIG_OPTIONS, judgeGitConfig } from './config.js';
import { literal } from '../../words/argument.js';
import { each, type OptionSpec, type ProgramSpec, type ProgramTable, valued } from '../../subject/program-spec.js';

const text = { operands: 'text' } as const;
/** The operands may be files anywhere, as with `diff --no-index`. */
const show: ProgramSpec = {
  class: 'read',
  options: {
    '--output': { value: 'write' },
    '--contents': { value: 'read' },
    ...each('--ext-diff --open-files-in-pager', { class: 'obfuscated', value: 'text' }),
  },
};
const change: ProgramSpec = { class: 'write', ...text };
const destroy: ProgramSpec = { class: 'destructive', reason: 'discards work', ...text };
const runs: ProgramSpec = {
  class: 'execute',
  ...text,
  options: {
    ...each('-x --exec', { value: 'shell' }),
    ...each('-F --file -t --template', { value: 'read' }),
    ...valued('-m -C -s'),
  },
};
const code: OptionSpec = { class: 'obfuscated', reason: 'runs another program', value: 'text' };
const fetch: ProgramSpec = {
  class: 'network',
  ...text,
  options: {
    ...each('--upload-pack -u', { value: 'shell', class: 'execute' }),
    ...each('-c --config', code),
    '--template': { class: 'obfuscated', reason: 'installs hooks from a template', value: 'text' },
    ...valued('-b -o --depth --branch --origin -j'),
  },
};

/** `git`; its hooks and settings run programs, see also the start-up paths. */
export const SPECS: ProgramTable = {
  git: {
    class: 'execute',
    reason: 'may run an alias',
    ...text,
    options: GIT_OPTIONS,
    judge: judgeGit,
    subcommands: {
      ...each(
        'status log show rev-parse rev-list ls-files ls-tree cat-file blame annotate describe shortlog name-rev merge-base for-each-ref show-ref var version help count-objects fsck whatchanged range-diff check-ignore check-attr diff-tree diff-files diff-index cherry verify-commit verify-tag show-branch --version',
        show,
      ),
      diff: { ...show, judge: judgeGitDiff },
      grep: {
        ...show,
        judge: judgeGitGrep,
        options: { ...each('-O --open-files-in-pager', code), ...valued('-e -f -A -B -C') },
      },
      init: {
        ...change,
        options: { '--template': { class: 'obfuscated', reason: 'installs hooks from a template', value: 'text' } },
      },
      'hash-object': { ...change, operands: 'read' },
      ...each('send-pack fetch-pack', {
        class: 'network',
        ...text,
        options: each('--receive-pack --upload-pack --exec', { value: 'shell', class: 'execute' }),
      }),
      'read-tree': { ...change, options: each('-u --reset', { class: 'destructive', reason: 'discards changes' }) },
      'checkout-index': {
        ...change,
        options: {
          ...each('-f --force', { class: 'destructive', reason: 'overwrites files' }),
          '--prefix': { value: 'write' },
        },
      },
      'for-each-repo': { class: 'obfuscated', reason: 'runs commands in other repositories', ...text },
      maintenance: {
        class: 'execute',
        ...text,
        subcommands: each('start register unregister stop', {
          class: 'persistence',
          reason: 'changes what runs later',
          ...text,
        }),
      },
      add: { ...change, operands: 'read' },
      notes: { ...change, options: each('-F --file', { value: 'read' }) },
      mv: { ...change, operands: 'into' },
      ...each('update-index write-tree commit-tree symbolic-ref sparse-checkout', change),
      bundle: { ...show, subcommands: { create: { class: 'write', ...text, judge: judgeGitBundle } } },
      branch: {
        ...change,
        options: {
          ...each('-d -D --delete', { class: 'destructive', reason: 'deletes a branch' }),
          ...each('-f --force -M', { class: 'destructive' }),
        },
      },
      tag: {
        ...change,
        options: {
          ...each('-d --delete', { class: 'destructive', reason: 'deletes a tag' }),
          ...each('-f --force', { class: 'destructive' }),
          ...each('-F --file', { value: 'read' }),
          ...valued('-m -u'),
        },
      },
      remote: {
        ...change,
        subcommands: {
          ...each('show get-url -v', show),
          ...each('update prune', fetch),
          ...each('add set-url', { class: 'network', ...text }),
        },
      },
      stash: { ...change, subcommands: { ...each('list show', show), ...each('drop clear', destroy) } },
      reflog: { ...show, subcommands: each('expire delete', destroy) },
      worktree: { ...change, subcommands: { list: show, ...each('remove prune', destroy) } },
      ...each('commit merge cherry-pick am revert rebase', runs),
      bisect: {
        ...runs,
        subcommands: {
          run: {
            class: 'execute',
            operands: 'text',
            judge: (subject, { args }) => {
              subject.runWords(args);
            },
          },
        },
      },
      ...each('checkout switch restore', {
        ...change,
        judge: judgeGitCheckout,
        options: {
          ...each('-f --force --discard-changes', { class: 'destructive', reason: 'discards changes' }),
          ...each('-B -C --force-create', { class: 'destructive', reason: 'moves a branch', value: 'text' }),
          ...valued('-b -c -s --source --orphan'),
        },
      }),
      reset: { ...change, judge: judgeGitReset },
      clean: { class: 'read', ...text, options: valued('-e --exclude'), judge: judgeGitClean },
      rm: {
        ...change,
        judge: (subject, { args }) => {
          // With `--cached`, the files stay.
          if (!args.some(({ value }) => value === '--cached')) subject.add('destructive', 'git rm deletes files');
        },
      },
      ...each('filter-repo prune replace', destroy),
      'filter-branch': {
        ...destroy,
        options: each(
          '--env-filter --tree-filter --index-filter --msg-filter --commit-filter --parent-filter --tag-name-filter --setup',
          { value: 'shell' },
        ),
      },
      gc: { ...change, options: { '--prune': { class: 'destructive', reason: 'discards work' }, '--aggressive': {} } },
      'update-ref': { ...change, options: { ...each('-d --stdin', { class: 'destructive' }), ...valued('-m') } },
      apply: {
        ...change,
        judge: (subject) => {
          subject.write(literal('x'));
        },
        options: {
          '--unsafe-paths': { class: 'destructive', reason: 'writes to any path that the patch names' },
          '--directory': { value: 'write' },
        },
      },
      'format-patch': { ...change, options: each('-o --output-directory', { value: 'write' }) },
      config: { class: 'write', ...text, options: CONFIG_OPTIONS, judge: judgeGitConfig },
      ...each('clone fetch pull ls-remote', fetch),
      submodule: {
        class: 'network',
        ...text,
        subcommands: {
          ...each('status summary', show),
          foreach: { class: 'execute', ...text, judge: judgeGitForeach },
          ...each('deinit', destroy),
        },
      },
      push: {
        class: 'network',
        ...text,
        options: {
          ...each('--receive-pack --exec', { value: 'shell', class: 'execute' }),
          ...each('-f --force --force-with-lease --mirror -d --delete --prune', {
            class: 'destructive',
            reason: 'overwrites commits of others',
          }),
          ...valued('-o --push-option'),
        },
        judge: judgeGitPush,
      },
      archive: {
        ...show,
        options: {
          ...each('-o --output', { value: 'write' }),
          ...each('--exec', { value: 'shell' }),
          ...valued('--remote --format --prefix'),
        },
      },
      ...each('difftool mergetool instaweb daemon shell gui gitk web--browse help--browse', {
        class: 'obfuscated',
        reason: 'runs other programs',
        ...text,
      }),
      ...each('send-email imap-send request-pull', { class: 'exfiltration', ...text }),
      ...each('credential credential-store credential-cache', {
        class: 'exfiltration',
        reason: 'reads credentials',
        ...text,
      }),
    },
  },
};
