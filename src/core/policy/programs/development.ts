import {
  type ProgramExamples,
  type ProgramFamily,
  repl,
  typedCode,
  typedScript,
  type WrapperSpec,
  type WrapperTable,
} from '../program-family.js';
import { judgeGivenTexts } from '../subject/listed-files.js';
import { judgeIndex } from '../subject/options.js';
import { each, flags, type ProgramSpec, type ProgramTable, valued } from '../subject/program-spec.js';
import { judgeScriptAddress } from '../subject/inline-source.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  read: ['hg status', 'npm ls', 'pip list'],
  write: ['copy a b', 'make_directory x'],
  execute: [
    'make',
    'nix run nixpkgs#hello',
    'pm2 list',
    'rustup run nightly ls',
    'opam exec -- ls',
    'stack exec ls',
    'cmake .',
    'mvn -q package',
    'nix-shell --command ls',
    'conda run -n env ls',
    'pdm run ls',
    'direnv exec . ls',
    'npm explore x ls',
    'pylint x',
    'prisma generate',
    'composer exec ls',
    'just -c ls',
    'black src',
  ],
  persistence: ['mise trust'],
  network: ['pipx run ls', 'bunx ls', 'npm x -- ls', 'npx ls'],
  interactive: ['make -f -', 'bun repl'],
  destructive: [
    'uv run rm x',
    'cmake -E rm x',
    "nix-shell --run 'rm x'",
    'poetry run rm x',
    'yarn exec rm x',
    'jj abandon',
  ],
  exfiltration: ['twine upload x'],
};

const text = { operands: 'text' } as const;
const show: ProgramSpec = { class: 'read', ...text };
const run: ProgramSpec = { class: 'execute', ...text };
const fetch: ProgramSpec = { class: 'network', ...text };
const publish: ProgramSpec = { class: 'exfiltration', reason: 'publishes files', ...text };
const settings: ProgramSpec = { class: 'persistence', reason: 'changes settings that other programs use', ...text };

/** Options that say where packages come from, and where they are installed. */
const SOURCES = {
  ...each('--index --index-url --extra-index-url --default-index --pypi-url --trusted-host --registry', {
    value: 'index',
  } as const),
  ...each('--find-links --constraint --requirement', { value: 'packages' } as const),
  ...each('--root --prefix --src --target', { value: 'write' } as const),
  ...valued('--python --group --extra --cache-dir --proxy --cert --timeout --retries --upgrade-strategy --project'),
};
const PIP_OPTIONS = {
  ...SOURCES,
  '-i': { value: 'index' } as const,
  ...each('-f -r -c', { value: 'packages' } as const),
  ...each('-t', { value: 'write' } as const),
  '-e': { value: 'text' } as const,
  ...flags('-U -q -v -I --upgrade --quiet --verbose --user --pre --no-deps --no-index --no-cache-dir'),
};

/** `pip install` and similar commands, which may have a target directory. */
const install: ProgramSpec = { ...fetch, options: PIP_OPTIONS };

/** Subcommands of most package managers of Python. */
const PYTHON_COMMANDS: NonNullable<ProgramSpec['subcommands']> = {
  ...each('list show freeze check help --version', show),
  install,
  ...each('download wheel', install),
  ...each('add sync lock update upgrade search index create env venv tool', { ...fetch, options: SOURCES }),
  ...each('publish', publish),
  config: { ...settings, subcommands: each('list get debug', show) },
};

/** Options of npm and the like, which stand before and after subcommands. */
const NPM_OPTIONS = {
  ...each('--script-shell --node-options --git --editor --viewer --init-module --userconfig --globalconfig', {
    value: 'program',
  } as const),
  '--registry': { value: 'index' } as const,
  ...each('--prefix', { value: 'write' } as const),
  ...flags('-s -g -D -E -O -P -f -y -q -d --silent --quiet --global --json --force --yes --save-dev --workspaces'),
  ...valued('-C -w -F --dir --cwd --loglevel --workspace --filter --cache --tag --otp --access --omit --include'),
};

/** npm and the like. Bun runs scripts itself, with options of its own. */
function packageManager(options: NonNullable<ProgramSpec['options']>): ProgramSpec {
  const get: ProgramSpec = { ...fetch, options };
  return {
    ...run,
    options,
    judge: (subject, { args }) => {
      if (args.some(({ shape }) => /_(?:auth|authToken|password)$/.test(shape)))
        subject.add('exfiltration', `${subject.program ?? 'it'} prints credentials`);
      if (subject.program === 'bun') judgeScriptAddress(subject);
    },
    subcommands: {
      ...each('ls list ll la root prefix bin -v --version help why explain query', show),
      ...each('view info outdated audit search show ping whoami fund create init dlx cache', get),
      ...each('install i ci add update up upgrade dedupe link', get),
      ...each('publish', publish),
      ...each('unpublish deprecate', { class: 'destructive', ...text }),
      ...each('config set', { ...settings, subcommands: each('get list ls', show) }),
      ...each('login adduser token owner access', { class: 'exfiltration', reason: 'handles credentials', ...text }),
    },
  };
}

/** Properties of builds whose value is a command. */
const RUNNING_PROPERTY =
  /^(?:-Dexec\.(?:executable|args|commandlineArgs)=|[-/]p(?:roperty)?:\w*(?:Event|Command|Exec)\w*=)/;

/** Words with which clients of databases and clouds discard data. */
const LOSING =
  /^(?:reset|destroy|remove|drop|dropAll|drop-all|clean|downgrade|db:(?:drop|reset|purge|wipe|truncate_all|schema:load|setup)(?::\w+)?|migrate:(?:fresh|reset|refresh)|flush|--force-reset|rollback)$/;

const discards: ProgramSpec = { class: 'destructive', reason: 'discards data or work', ...text };

/** Package managers and builders. */
const SPECS: ProgramTable = {
  ...each('npm yarn pnpm', packageManager(NPM_OPTIONS)),
  bun: packageManager({ ...NPM_OPTIONS, ...each('-e -p --eval --print -r --preload', { value: 'code' }) }),
  ...each('pip pip3 pipx conda mamba', { ...run, options: SOURCES, subcommands: PYTHON_COMMANDS }),
  ...each('uv poetry pdm pipenv', {
    ...run,
    options: SOURCES,
    subcommands: {
      ...PYTHON_COMMANDS,
      pip: { ...run, options: SOURCES, subcommands: PYTHON_COMMANDS },
      source: {
        ...run,
        subcommands: {
          show,
          add: {
            ...fetch,
            judge: (subject, { operands }) => {
              for (const operand of operands) if (operand.shape.includes('://')) judgeIndex(subject, operand);
            },
          },
        },
      },
    },
  }),
  ...each('gem bundle composer mix dotnet mvn gradle gradlew sbt stack cabal opam dart flutter swift', {
    ...run,
    judge: (subject) => {
      const loss = subject.args.find(({ shape }) => /^ecto\.(?:drop|reset|rollback)$/.test(shape));
      if (loss) subject.add('destructive', `mix ${loss.text} discards data`);
      const source = subject.args.findIndex(({ shape }) => /^(?:-s|--source|-a|--add)(?:=|$)/.test(shape));
      const index =
        subject.args[source]?.shape.includes('=') === true ? subject.args[source] : subject.args[source + 1];
      if (subject.program === 'gem' && source !== -1 && index)
        judgeIndex(subject, { ...index, shape: index.shape.replace(/^--\w+=/, '') });
      const property = subject.args.find(({ shape }) => RUNNING_PROPERTY.test(shape));
      if (property) subject.add('obfuscated', `a property names a program that the build runs: ${property.text}`);
    },
    subcommands: {
      ...each('version --version help env tree metadata search', show),
      ...each('install add get fetch update mod download restore', fetch),
      ...each('publish push yank owner login', publish),
    },
  }),
  rustup: run,
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
  ...each('prisma supabase cdk sst sls serverless rails flyway liquibase alembic dbmate artisan manage.py rake', {
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
          /^(?:--config-(?:option|dir|toml)|--diff-cmd|--editor-cmd|--diff3-cmd|--remotecmd|--ssh|--config=?(?:alias|hooks|extensions|ui|diff-tools|merge-tools|extdiff)\b)/.test(
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
  nix: {
    ...run,
    judge: (subject, { args }) => {
      const address = args.find(({ shape }) => /^(?:github|gitlab|sourcehut|git|git\+\w+|https?|tarball):/.test(shape));
      if (address) subject.add('obfuscated', `nix runs code from another machine: ${address.text}`);
      const end = args.findIndex(({ shape }) => /^(?:-c|--command)$/.test(shape));
      if (end !== -1) subject.runWords(args.slice(end + 1));
    },
  },
  ...each('pm2 dconf gsettings', {
    ...run,
    subcommands: each('save startup write load set reset', {
      class: 'persistence',
      reason: 'changes what runs later',
      ...text,
    }),
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
    operands: 'into',
  }),
  make_directory: { class: 'write', operands: 'write' },
  ...each('make gmake ninja meson bazel just task ant scons tox nox', {
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

const runner: WrapperSpec = { class: 'execute' };

const npmExec: WrapperSpec = {
  class: 'network',
  options: { ...each('-c --call', { value: 'shell' }), '--registry': { value: 'index' }, ...valued('-p --package -w') },
};

/** Subcommands that run a program in the environment of a project, or of a package that they fetch. */
const WRAPPERS: WrapperTable = {
  'nix-shell --run': { class: 'execute', isJoined: true },
  'nix-shell --command': { class: 'execute', isJoined: true },
  'uv run': {
    class: 'execute',
    options: {
      ...each('--index --index-url --extra-index-url --default-index -i', { value: 'index' }),
      ...each('--find-links -f', { value: 'packages' }),
      ...each('--env-file', { value: 'settings' }),
      ...valued('--with --with-editable --with-requirements --extra --group --python -p --project --directory'),
    },
  },
  'conda run': { class: 'execute', options: valued('-n -p --name --prefix --cwd') },
  'poetry run': { class: 'execute', options: valued('-C -P --directory --project') },
  'pdm run': { class: 'execute', options: valued('-p --project') },
  'pipenv run': runner,
  'hatch run': runner,
  'pipx run': { class: 'network', options: valued('--spec --python --index-url --pip-args') },
  'rustup run': { class: 'execute', skips: 1 },
  'opam exec': { class: 'execute', options: valued('--switch --root') },
  'stack exec': { class: 'execute', options: valued('--package --stack-yaml --cwd') },
  'bundle exec': runner,
  'rbenv exec': runner,
  'pyenv exec': runner,
  'asdf exec': runner,
  'yarn exec': runner,
  'pnpm exec': runner,
  'direnv exec': { class: 'execute', skips: 1 },
  'composer exec': runner,
  'just -c': runner,
  'just --command': runner,
  'npm exec': npmExec,
  'npm x': npmExec,
  'pnpm dlx': npmExec,
  'yarn dlx': npmExec,
  'bun x': npmExec,
  'npm explore': { class: 'execute', skips: 1 },
  npx: npmExec,
  ...each('bunx pnpx uvx', {
    class: 'network',
    options: {
      ...each('--index --index-url --extra-index-url --default-index -i --registry', { value: 'index' }),
      ...each('--find-links -f', { value: 'packages' }),
      ...valued('--from --with -p'),
    },
  }),
  'cmake -E': { class: 'execute' },
};

/** Package managers and builders. */
export const DEVELOPMENT: ProgramFamily = {
  name: 'development',
  programs: SPECS,
  wrappers: WRAPPERS,
  typing: {
    bun: typedCode(repl({ ends: /^-[eprvVh]|^--(?:eval|print)/, typed: /^repl$/ })),
    ...each('make gmake', typedCode(typedScript)),
  },
  traits: { versioned: 'pip', history: 'hg jj fossil svn' },
  variables: [
    {
      names: /^(?:DOTNET_STARTUP_HOOKS|CORECLR_PROFILER\w*)$/,
      class: 'obfuscated',
      what: 'makes an interpreter run other code',
    },
    {
      names: /^(?:PIP|UV)_(?:EXTRA_)?(?:INDEX_URL|DEFAULT_INDEX|INDEX|TRUSTED_HOST)$/,
      class: 'obfuscated',
      what: 'installs packages from another index',
      harmless: /^(?:https?:\/\/(?:(?:test\.)?pypi\.org|download\.pytorch\.org|localhost|127\.0\.0\.1)[:/].*|)$/,
    },
    {
      names: /^(?:CVS_RSH|SVN_SSH|(?:GNU)?MAKEFLAGS|MAKEFILES)$/,
      class: 'obfuscated',
      what: 'adds options to a program',
    },
    {
      names: /^npm_config_(?:script[-_]shell|shell|git|editor|viewer|browser|init[-_]module|userconfig|globalconfig)$/i,
      class: 'obfuscated',
      what: 'sets a program that other programs run',
    },
  ],
  commandVariables: /^(?:CMAKE_\w+_LAUNCHER|MAKE|NPM_CONFIG_SHELL)$/,
  startupPaths: [
    ...[
      '.hgrc',
      '/**/.hg/hgrc',
      '.tmux.conf',
      '~/.config/tmux/**',
      '.envrc',
      '.npmrc',
      '.yarnrc',
      '.yarnrc.yml',
      '.pnpmfile.cjs',
      'pip.conf',
      '~/.pypirc',
      '~/.config/pip/**',
    ],
    ...['.pre-commit-config.yaml', '.pre-commit-config.yml', 'lefthook.yml', '.lefthook.yml', '.lintstagedrc*'],
    ...['/**/.cargo/config', '/**/.cargo/config.toml', '.tool-versions', 'mise.toml', '.mise.toml', 'sitecustomize.py'],
    ...[
      '/**/.yarn/releases/**',
      '/**/.yarn/plugins/**',
      '/**/.mvn/**',
      '.bazelrc',
      '.pypirc',
      '.pythonrc.py',
      'CODEOWNERS',
    ],
    ...['usercustomize.py', '~/.m2/settings.xml', '~/.gradle/**', '~/.bundle/**', '~/.config/composer/**'],
    ...[
      '/**/.github/workflows/**',
      '/**/.github/actions/**',
      '/**/.circleci/**',
      '/**/.buildkite/**',
      '/**/.github/dependabot.yml',
      '/**/.github/renovate.json*',
      '/**/.forgejo/workflows/**',
      '/**/.gitea/workflows/**',
      '/**/.gitlab/**',
      '.gitlab-ci.yml',
    ],
    ...[
      '.travis.yml',
      'azure-pipelines.yml',
      'bitbucket-pipelines.yml',
      'Jenkinsfile',
      '.drone.yml',
      '.woodpecker.yml',
    ],
  ],
  examples: EXAMPLES,
};
