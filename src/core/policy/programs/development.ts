import type { ProgramFamily } from '../program-catalog.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { judgeGivenTexts } from '../subject/listed-files.js';
import { judgeIndex } from '../subject/roles.js';
import type { ProgramCall } from '../subject/program-spec.js';

const ENTRIES = String.raw`
%npm: read
  --script-shell --node-options --git --editor --viewer --init-module --userconfig --globalconfig = program
  --registry = index
  --prefix = write
  -s -g -D -E -O -P -f -y -q -d --silent --quiet --global --json --force --yes --save-dev --workspaces
  -C -w -F --dir --cwd --loglevel --workspace --filter --cache --tag --otp --access --omit --include = text
%sources: read
  --index --index-url --extra-index-url --default-index --pypi-url --trusted-host --registry = index
  --find-links --constraint --requirement = packages
  --root --prefix --src --target = write
  --python --group --extra --cache-dir --proxy --cert --timeout --retries --upgrade-strategy --project = text
%bun: read
  like %npm
  -e -p --eval --print -r --preload = code
%npm-exec: read
  -c --call = shell
  --registry = index
  -p --package -w = text
npm <text>: execute
  like %npm
  when /_(?:auth|authToken|password)$/ ! exfiltration {it} prints credentials
  ls list ll la root prefix bin -v --version help why explain query: read
  view info outdated audit search show ping whoami fund create init dlx cache install i ci add update up upgrade \
      dedupe link: network
    like %npm
  publish: exfiltration publishes files
  unpublish deprecate: destructive
  config set: persistence changes settings that other programs use
    get list ls: read
  login adduser token owner access: exfiltration handles credentials
  exec x: network
    runs
    like %npm-exec
  explore: execute
    runs after 1
  e.g. npm ls: read; npm explore x ls: execute; npm x -- ls: network
yarn pnpm <text>: execute
  like npm
  exec: execute
    runs
  dlx: network
    runs
    like %npm-exec
  e.g. yarn exec rm x: destructive; yarn dlx ls: network
bun <text>: execute
  like %bun
  when /_(?:auth|authToken|password)$/ ! exfiltration {it} prints credentials
  when input named ! obfuscated {it} runs code from its input, which cannot be judged
  when /^(?:https?|jsr|npm):/ ! network {it} fetches a program and runs it: {word}
  when /^https?:/ ! obfuscated {it} runs code from another machine: {word}
  ls list ll la root prefix bin -v --version help why explain query: read
  view info outdated audit search show ping whoami fund create init dlx cache install i ci add update up upgrade \
      dedupe link: network
    like %bun
  publish: exfiltration publishes files
  unpublish deprecate: destructive
  config set: persistence changes settings that other programs use
    get list ls: read
  login adduser token owner access: exfiltration handles credentials
  x: network
    runs
    like %npm-exec
  typed code repl ends /^-[eprvVh]|^--(?:eval|print)/ names /^repl$/
  e.g. bun repl: interactive; bun x ls: network
pip pip3 mamba <text>: execute
  like %sources
  list show freeze check help --version: read
  install download wheel: network
    like %sources
    -i = index
    -f -r -c = packages
    -t = write
    -e = text
    -U -q -v -I --upgrade --quiet --verbose --user --pre --no-deps --no-index --no-cache-dir
  add sync lock update upgrade search index create env venv tool: network
    like %sources
  publish: exfiltration publishes files
  config: persistence changes settings that other programs use
    list get debug: read
  is versioned of pip
  e.g. pip list: read
pipx <text>: execute
  like pip
  run: network
    runs
    --spec --python --index-url --pip-args = text
  e.g. pipx run ls: network
conda <text>: execute
  like pip
  run: execute
    runs
    -n -p --name --prefix --cwd = text
  e.g. conda run -n env ls: execute
uv <text>: execute
  like pip
  pip: execute
    like pip
  source: execute
    show: read
    add: network
      rule source
  run: execute
    runs
    --index --index-url --extra-index-url --default-index -i = index
    --find-links -f = packages
    --env-file = settings
    --with --with-editable --with-requirements --extra --group --python -p --project --directory = text
  e.g. uv run rm x: destructive
poetry <text>: execute
  like uv
  run: execute
    runs
    -C -P --directory --project = text
  e.g. poetry run rm x: destructive
pdm <text>: execute
  like uv
  run: execute
    runs
    -p --project = text
  e.g. pdm run ls: execute
pipenv <text>: execute
  like uv
  run: execute
    runs
  e.g. pipenv run ls: execute; pipenv x: execute
gem mix dotnet mvn gradle gradlew sbt cabal dart flutter swift <text>: execute
  when /^ecto\.(?:drop|reset|rollback)$/ ! destructive mix {word} discards data
  when /^(?:-Dexec\.(?:executable|args|commandlineArgs)=|[-\/]p(?:roperty)?:\w*(?:Event|Command|Exec)\w*=)/ ! obfuscated \
      a property names a program that the build runs: {word}
  rule gem
  version --version help env tree metadata search: read
  install add get fetch update mod download restore: network
  publish push yank owner login: exfiltration publishes files
  e.g. mvn -q package: execute
bundle composer <text>: execute
  like gem
  exec: execute
    runs
  e.g. composer exec ls: execute
stack <text>: execute
  like gem
  exec: execute
    runs
    --package --stack-yaml --cwd = text
  e.g. stack exec ls: execute
opam <text>: execute
  like gem
  exec: execute
    runs
    --switch --root = text
  e.g. opam exec -- ls: execute
rustup <text>: execute
  run: execute
    runs after 1
  e.g. rustup run nightly ls: execute; rustup show: execute
twine <text>: exfiltration publishes files
  e.g. twine upload x: exfiltration
direnv <text>: execute
  allow permit grant trust install add set init: persistence changes what runs later
  exec: execute
    runs after 1
  e.g. direnv exec . ls: execute
mise husky lefthook pre-commit <text>: execute
  allow permit grant trust install add set init: persistence changes what runs later
  e.g. mise trust: persistence
pylint <text>: execute
  --init-hook --load-plugins = code
  e.g. pylint x: execute
black isort yapf autopep8 rustfmt gofumpt goimports <write>: execute
  e.g. black src: execute
prisma supabase cdk sst sls serverless rails flyway liquibase alembic dbmate artisan manage.py rake <text>: \
    execute
  when /^(?:reset|destroy|remove|drop|dropAll|drop-all|clean|downgrade|db:(?:drop|reset|purge|wipe|truncate_all|schema:load|setup)(?::\w+)?|migrate:(?:fresh|reset|refresh)|flush|--force-reset|rollback)$/ ! destructive \
      {it} {word} discards data
  e.g. prisma generate: execute
hg jj fossil svn <text>: execute
  when /^(?:--config-(?:option|dir|toml)|--diff-cmd|--editor-cmd|--diff3-cmd|--remotecmd|--ssh|--config=?(?:alias|hooks|extensions|ui|diff-tools|merge-tools|extdiff)\b)/ ! obfuscated \
      {it} runs a program that an option names
  rule settings
  status st log diff cat annotate blame summary root identify id branches tags heads show evolog info list: read
  purge strip rollback revert abandon restore cleanup undo: destructive discards data or work
  clone pull fetch incoming outgoing checkout co push commit ci: network
  is history
  e.g. hg status: read; jj abandon: destructive
nix <text>: execute
  when /^(?:github|gitlab|sourcehut|git|git\+\w+|https?|tarball):/ ! obfuscated nix runs code from another machine: {word}
  -c --command: execute
    runs
  e.g. nix run nixpkgs#hello: execute; nix shell nixpkgs#hello -c rm x: destructive
pm2 dconf gsettings <text>: execute
  save startup write load set reset: persistence changes what runs later
  e.g. pm2 list: execute
cmake <text>: execute
  --prefix = write
  -B -S -G -A -T -P -D = text
  when /^-D\w*(?:LAUNCHER|COMPILER|PROGRAM|EXECUTABLE)(?::\w+)?=(?!\/usr\/)\.{0,2}\// ! obfuscated \
      cmake runs a program that a variable names: {word}
  rule givenTexts
  -E: execute
    runs
  e.g. cmake .: execute; cmake -E rm x: destructive
copy copy_if_different copy_directory copy_directory_if_different create_symlink create_hardlink <read... into>: write
  e.g. copy a b: write
make_directory <write>: write
  e.g. make_directory x: write
make gmake <text>: execute
  -E --eval = code
  -f --file --makefile = read
  -C -j -I -o -W -G -B -S = text
  when /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)\+?=/ ! obfuscated make runs its recipes with another shell
  when /=.*\$[({]shell/ ! obfuscated a variable of make runs a command
  when process ! obfuscated {it} runs the output of another command
  when input named ! obfuscated {it} runs a makefile from its input
  rule givenTexts
  typed code script
  e.g. make: execute; make -f -: interactive
ninja meson bazel task ant scons tox nox <text>: execute
  like make
  e.g. ninja x: execute
just <text>: execute
  like make
  -c --command: execute
    runs
  e.g. just -c ls: execute
nix-shell:
  --run --command: execute
    runs joined
  e.g. nix-shell --command ls: execute; nix-shell --run 'rm x': destructive
hatch:
  run: execute
    runs
  e.g. hatch run ls: execute
rbenv pyenv asdf:
  exec: execute
    runs
  e.g. rbenv exec ls: execute
npx: network
  runs
  like %npm-exec
  e.g. npx ls: network
bunx pnpx uvx: network
  runs
  --index --index-url --extra-index-url --default-index -i --registry = index
  --find-links -f = packages
  --from --with -p = text
  e.g. bunx ls: network
`;

/** `uv source add`: the address of an index. */
function judgeSource(subject: CommandAnalysis, { operands }: ProgramCall): void {
  for (const operand of operands) if (operand.shape.includes('://')) judgeIndex(subject, operand);
}

/** `gem`: another source of packages. */
function judgeGem(subject: CommandAnalysis, { args }: ProgramCall): void {
  const at = args.findIndex(({ shape }) => /^(?:-s|--source|-a|--add)(?:=|$)/.test(shape));
  const index = args[at]?.shape.includes('=') === true ? args[at] : args[at + 1];
  if (subject.program === 'gem' && at !== -1 && index)
    judgeIndex(subject, { ...index, shape: index.shape.replace(/^--\w+=/, '') });
}

/** `hg --config`, `svn -e`: settings that name programs. */
function judgeSettings(subject: CommandAnalysis, { args }: ProgramCall): void {
  args.forEach(({ shape }, at) => {
    const value = args[at + 1]?.shape ?? '';
    const isProgram = /^(?:alias|hooks|extensions|ui|diff-tools|merge-tools|extdiff|\S+ )/.test(value);
    if (/^(?:--config|-e)$/.test(shape) && isProgram) subject.does('runs a program that a setting names', value);
  });
}

export const DEVELOPMENT: ProgramFamily = {
  name: 'development',
  entries: ENTRIES,
  rules: {
    judges: {
      source: judgeSource,
      gem: judgeGem,
      settings: judgeSettings,
      givenTexts: judgeGivenTexts,
    },
  },
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
  startupPaths: `
    .hgrc /**/.hg/hgrc .tmux.conf ~/.config/tmux/** .envrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pip.conf
    ~/.pypirc ~/.config/pip/** .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml .lefthook.yml
    .lintstagedrc* /**/.cargo/config /**/.cargo/config.toml .tool-versions mise.toml .mise.toml sitecustomize.py
    /**/.yarn/releases/** /**/.yarn/plugins/** /**/.mvn/** .bazelrc .pypirc .pythonrc.py CODEOWNERS usercustomize.py
    ~/.m2/settings.xml ~/.gradle/** ~/.bundle/** ~/.config/composer/** /**/.github/workflows/**
    /**/.github/actions/** /**/.circleci/** /**/.buildkite/** /**/.github/dependabot.yml /**/.github/renovate.json*
    /**/.forgejo/workflows/** /**/.gitea/workflows/** /**/.gitlab/** .gitlab-ci.yml .travis.yml azure-pipelines.yml
    bitbucket-pipelines.yml Jenkinsfile .drone.yml .woodpecker.yml
  `,
};

const AGENT_ENTRIES = String.raw`
claude codex gemini qwen opencode cursor-agent copilot amp crush goose aider droid cline kilocode auggie kiro-cli \
    q <text>: execute
  --permission-mode --approval-mode --ask-for-approval = text ! obfuscated lets a model run commands without being asked \
      unless /^(?:default|plan|ask|auto_edit|acceptEdits|on-request|untrusted)$/
  when /^(?:--(?:allow-)?dangerously-.*|--full-auto|--yolo|-y|--yes|--yes-always|--force|-f|--allow-all(?:-.*)?|--auto-approve|--trust-all-tools)$/ ! obfuscated \
      {it} lets a model run commands without being asked
  mcp plugin plugins extensions extension config: persistence changes what an agent runs later
    list ls get show help: read
  login logout auth setup-token: exfiltration handles credentials
  install update upgrade: network
  help doctor: read
  e.g. claude mcp list: read; codex help: read; codex exec 'explain this': execute; gemini -y: obfuscated; \
      claude mcp add x: persistence
`;

/** Agents on the command line, and the files from which agents take instructions, tools and hooks. */
export const AGENTS: ProgramFamily = {
  name: 'agents',
  entries: AGENT_ENTRIES,
  startupPaths: `
    CLAUDE.md CLAUDE.local.md AGENTS.md AGENT.md AGENTS.override.md GEMINI.md QWEN.md CRUSH.md .cursorrules
    .windsurfrules .clinerules .roorules .roomodes .goosehints .aider.conf.yml .mcp.json mcp.json opencode.json
    opencode.jsonc crush.json .crush.json ~/.claude.json /**/.claude/** /**/.cursor/** /**/.gemini/** /**/.codex/**
    /**/.qwen/** /**/.opencode/** /**/.windsurf/** /**/.continue/** /**/.roo/** /**/.kilocode/** /**/.cline/**
    /**/.clinerules/** /**/.kiro/** /**/.amazonq/** /**/.junie/** /**/.augment/** /**/.trae/** /**/.agents/**
    /**/.agent/** /**/.goose/** /**/.amp/** /**/.zencoder/** /**/.factory/** /**/.github/copilot-instructions.md
    /**/.github/instructions/** /**/.github/agents/** /**/.github/prompts/** /**/.github/hooks/**
    ~/.config/opencode/** ~/.config/crush/** ~/.config/goose/** ~/.config/amp/**
  `,
};
