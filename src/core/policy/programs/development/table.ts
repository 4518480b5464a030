import { judgeGivenTexts } from '../../subject/given-commands.js';
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
    judge: judgeGivenTexts,
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
      ...valued('-C -f -j -I -o -W -G -B -S'),
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
