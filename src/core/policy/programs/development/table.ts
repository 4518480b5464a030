import { judgeGivenTexts } from '../../subject/given-commands.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { judgeScriptAddress } from '../../subject/run-file.js';
import { each, type ProgramSpec, type ProgramTable, valued } from '../../subject/program-spec.js';

const text = { operands: 'text' } as const;
const show: ProgramSpec = { class: 'read', ...text };
const run: ProgramSpec = { class: 'execute', ...text };
const fetch: ProgramSpec = { class: 'network', ...text };
const publish: ProgramSpec = { class: 'exfiltration', reason: 'publishes files', ...text };
const settings: ProgramSpec = { class: 'persistence', reason: 'changes settings that other programs use', ...text };

/** `pip install` and similar commands, which may have a target directory. */
const install: ProgramSpec = {
  ...fetch,
  options: { ...each('-t --target --root --prefix --src', { value: 'write' }), ...valued('-r -c -i -e -f') },
};

/** Indexes of packages that everybody uses, and those of this machine. */
const KNOWN_INDEX =
  /^(?:https?:\/\/)?(?:(?:test\.)?pypi\.org|files\.pythonhosted\.org|download\.pytorch\.org|pypi\.nvidia\.com|registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|localhost|127\.\d+\.\d+\.\d+)(?:[:/]|$)/;
const INDEX_OPTION = /^(?:-i|--index|--index-url|--extra-index-url|--default-index|--trusted-host|--registry)$/;

/** Packages of another index run code of its owner. */
function judgeRegistry(subject: CommandAnalysis): void {
  subject.args.forEach(({ shape }, at) => {
    const [option = '', attached] = shape.startsWith('--') ? shape.split('=', 2) : [shape];
    const index = attached ?? subject.args[at + 1]?.shape ?? '';
    if (INDEX_OPTION.test(option) && /[.:]/.test(index) && !KNOWN_INDEX.test(index))
      subject.add('obfuscated', `installs packages from another index, whose owner can run code: ${index}`);
  });
}

/** Properties of builds whose value is a command. */
const RUNNING_PROPERTY =
  /^(?:-Dexec\.(?:executable|args|commandlineArgs)=|[-/]p(?:roperty)?:\w*(?:Event|Command|Exec)\w*=)/;

/** Words with which clients of databases and clouds discard data. */
const LOSING =
  /^(?:reset|destroy|remove|drop|dropAll|drop-all|clean|downgrade|db:(?:drop|reset|purge|truncate_all|schema:load|setup)|--force-reset|rollback)$/;

const discards: ProgramSpec = { class: 'destructive', reason: 'discards data or work', ...text };

/** Package managers and builders. */
export const SPECS: ProgramTable = {
  ...each('npm yarn pnpm bun', {
    ...run,
    judge: (subject) => {
      const { program, args } = subject;
      if (
        args.some(({ shape }) =>
          /^--(?:script-shell|node-options|git|editor|viewer|init-module|userconfig)(?:=|$)/.test(shape),
        )
      )
        subject.add('obfuscated', `${program ?? 'it'} runs a program that an option names`);
      judgeRegistry(subject);
      if (args.some(({ shape }) => /_(?:auth|authToken|password)$/.test(shape)))
        subject.add('exfiltration', `${program ?? 'it'} prints credentials`);
      if (program === 'bun') judgeScriptAddress(subject);
      if (program === 'bun' && args.some(({ shape }) => /^(?:-e|-p|--eval|--print|-r|--preload)(?:=|$)/.test(shape)))
        subject.add('obfuscated', 'bun runs code that cannot be judged');
    },
    subcommands: {
      ...each('ls list ll la root prefix bin -v --version help why explain query', show),
      ...each(
        'view info outdated audit search show ping whoami fund install i ci add update up upgrade dedupe create init dlx cache',
        fetch,
      ),
      ...each('publish', publish),
      ...each('unpublish deprecate', { class: 'destructive', ...text }),
      ...each('config set', { ...settings, subcommands: each('get list ls', show) }),
      ...each('login adduser token owner access', { class: 'exfiltration', reason: 'handles credentials', ...text }),
    },
  }),
  ...each('pip pip3 pipx uv poetry pdm pipenv conda mamba', {
    ...run,
    judge: judgeRegistry,
    subcommands: {
      ...each('list show freeze check help --version', show),
      install,
      ...each('download add sync lock update upgrade wheel search index create env venv tool', fetch),
      ...each('publish', publish),
      config: { ...settings, subcommands: each('list get debug', show) },
    },
  }),
  ...each('gem bundle composer mix dotnet mvn gradle gradlew sbt stack cabal opam dart flutter swift', {
    ...run,
    judge: (subject) => {
      const loss = subject.args.find(({ shape }) => /^ecto\.(?:drop|reset|rollback)$/.test(shape));
      if (loss) subject.add('destructive', `mix ${loss.text} discards data`);
      const property = subject.args.find(({ shape }) => RUNNING_PROPERTY.test(shape));
      if (property) subject.add('obfuscated', `a property names a program that the build runs: ${property.text}`);
    },
    subcommands: {
      ...each('version --version help env tree metadata search', show),
      ...each('install add get fetch update mod download restore', fetch),
      ...each('publish push yank owner login', publish),
    },
  }),
  twine: publish,
  ...each('direnv mise husky lefthook pre-commit', {
    ...run,
    subcommands: each('allow permit grant trust install add set init', {
      class: 'persistence',
      reason: 'changes what runs later',
      ...text,
    }),
  }),
  // Code checkers run what their options name.
  pylint: { ...run, options: each('--init-hook --load-plugins', { value: 'code' }) },
  ...each('black isort yapf autopep8 rustfmt gofumpt goimports', { class: 'execute', operands: 'write' }),
  ...each('prisma supabase cdk sst sls serverless rails flyway liquibase alembic dbmate', {
    ...run,
    judge: (subject) => {
      const verb = subject.args.find(({ shape }) => LOSING.test(shape));
      if (verb) subject.add('destructive', `${subject.program ?? 'it'} ${verb.text} discards data`);
    },
  }),
  ...each('hg jj fossil svn', {
    ...run,
    judge: (subject) => {
      if (
        subject.args.some(({ shape }) =>
          /^(?:--config-(?:option|dir)|--remotecmd|--ssh|--config=?(?:alias|hooks|extensions|ui|diff-tools|merge-tools|extdiff)\b)/.test(
            shape,
          ),
        )
      )
        subject.add('obfuscated', `${subject.program ?? 'it'} runs a program that an option names`);
      subject.args.forEach(({ shape }, at) => {
        const value = subject.args[at + 1]?.shape ?? '';
        if (
          /^(?:--config|-e)$/.test(shape) &&
          /^(?:alias|hooks|extensions|ui|diff-tools|merge-tools|extdiff|\S+ )/.test(value)
        )
          subject.add('obfuscated', `${subject.program ?? 'it'} runs a program that a setting names: ${value}`);
      });
    },
    subcommands: {
      ...each(
        'status st log diff cat annotate blame summary root identify id branches tags heads show evolog info list',
        show,
      ),
      ...each('purge strip rollback revert abandon restore cleanup undo', discards),
      ...each('clone pull fetch incoming outgoing checkout co', fetch),
      ...each('push commit ci', { class: 'network', ...text }),
    },
  }),
  cmake: {
    ...run,
    options: { '--prefix': { value: 'write' }, ...valued('-B -S -G -A -T -P -D') },
    judge: (subject) => {
      judgeGivenTexts(subject);
      const launcher = subject.args.find(({ shape }) =>
        /^-D\w*(?:LAUNCHER|COMPILER|PROGRAM|EXECUTABLE)(?::\w+)?=\.{0,2}\//.test(shape),
      );
      if (launcher && !/=\/usr\//.test(launcher.shape))
        subject.add('obfuscated', `cmake runs a program that a variable names: ${launcher.text}`);
    },
  },
  // Subcommands of `cmake -E`.
  ...each('copy copy_if_different copy_directory copy_directory_if_different create_symlink create_hardlink', {
    class: 'write',
    operands: 'last-written',
  }),
  make_directory: { class: 'write', operands: 'write' },
  ...each('make gmake ninja meson bazel just task rake ant scons tox nox', {
    ...run,
    options: {
      ...each('-E --eval', { value: 'code' }),
      ...each('-f --file --makefile', { value: 'read' }),
      ...valued('-C -j -I -o -W -G -B -S'),
    },
    judge: (subject) => {
      const { stdin } = subject.command;
      const isRead = subject.args.some(({ value }) => value === '-f-' || value === '-' || value === '/dev/stdin');
      if (subject.args.some(({ isProcess }) => isProcess))
        subject.add('obfuscated', 'make runs the output of another command');
      judgeGivenTexts(subject);
      if (isRead && stdin) subject.add('obfuscated', 'make runs a makefile from its input');
      if (subject.args.some(({ shape }) => /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)\+?=/.test(shape))) {
        subject.add('obfuscated', 'make runs its recipes with another shell');
      }
      if (subject.args.some(({ shape }) => /=.*\$[({]shell/.test(shape)))
        subject.add('obfuscated', 'a variable of make runs a command');
    },
  }),
};
