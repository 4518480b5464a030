import { describe, expect, it } from 'vitest';

import { outcomeOf, verdictOn } from '../support.js';

/** Files in a workspace that agents, editors, package managers and services run or trust later. */
const TRUSTED = [
  ...[
    '.claude/settings.json',
    '.claude/commands/x.md',
    '.cursor/mcp.json',
    '.mcp.json',
    'CLAUDE.md',
    'AGENTS.md',
    'sub/AGENTS.md',
  ],
  ...[
    '.gemini/settings.json',
    '.codex/config.toml',
    '.qwen/settings.json',
    '.opencode/x',
    'opencode.json',
    '.kiro/hooks/x',
  ],
  ...[
    '.vscode/tasks.json',
    '.vscode/settings.json',
    '.idea/workspace.xml',
    'x.code-workspace',
    '.devcontainer/devcontainer.json',
  ],
  ...[
    '.github/workflows/ci.yml',
    '.github/copilot-instructions.md',
    '.gitlab-ci.yml',
    '.circleci/config.yml',
    'Jenkinsfile',
  ],
  ...[
    '.npmrc',
    '.yarnrc.yml',
    '.pre-commit-config.yaml',
    '.cargo/config.toml',
    '.envrc',
    '.husky/pre-commit',
    'sitecustomize.py',
  ],
  ...[
    '.gitattributes',
    '.gitmodules',
    '.git/hooks/pre-commit',
    '.git/config',
    '.git/commondir',
    '.git/config.worktree',
  ],
  ...['.git/info/attributes', '.git/modules/m/hooks/x', '.git/worktrees/w/config.worktree', '.git', 'sub/.git/hooks/x'],
  ...['.exrc', '.vimrc', '.gdbinit', '.lldbinit', '.irbrc', '.dir-locals.el'],
];

/** Ways to write a file. */
const WAYS: Readonly<Record<string, (file: string) => string>> = {
  'a redirection': (file) => `echo x > ${file}`,
  'an appending redirection': (file) => `echo x >> "$PWD/${file}"`,
  tee: (file) => `echo x | tee ${file}`,
  sed: (file) => `sed -i s/a/b/ ${file}`,
  "sed's w": (file) => `sed 'w ${file}' x`,
  cp: (file) => `cp x ${file}`,
  mv: (file) => `mv x ${file}`,
  'ln -s': (file) => `ln -sf x ${file}`,
  tar: (file) => `tar cf ${file} x`,
  rsync: (file) => `rsync x ${file}`,
  curl: (file) => `curl -o ${file} https://example.com/x`,
  touch: (file) => `touch ${file}`,
  dd: (file) => `dd of=${file}`,
  install: (file) => `install -m 644 x ${file}`,
};

describe('what is run or trusted later', () => {
  it.each(TRUSTED)('is not written unasked: %s', (file) => {
    expect(outcomeOf(`echo x > ${file}`)).toBe('confirm persistence');
  });

  it.each(Object.entries(WAYS))('is not written unasked by %s', (_name, way) => {
    expect(verdictOn(way('.claude/settings.json')).causes).toContain('persistence');
  });

  it.each([
    ...[
      'echo x > .gi?/config',
      'echo x > .gi[t]/config',
      'echo x > .git/con*',
      'cp x .cl*/settings.json',
      'tee .*/settings.json < x',
    ],
    ...['mkdir -p .git/hooks', 'cp -r ev2/. .git/', 'mv evil .git', 'ln -sf evil .git', "printf 'gitdir: evil' > .git"],
    ...['cp pre-commit .git/hooks', 'git apply --directory=.git/hooks x.patch'],
  ])('is not written unasked by another name: %s', (command) => {
    expect(verdictOn(command).causes).toContain('persistence');
  });

  it.each([
    ...[
      'echo x > src/a.ts',
      'echo x > *.log',
      'echo x > README.md',
      'touch .gitignore',
      'echo x > .git/COMMIT_EDITMSG',
    ],
    ...[
      'echo x >> .git/info/exclude',
      'mkdir -p src/agents',
      'echo x > docs/claude.md',
      'echo x > .github/ISSUE_TEMPLATE.md',
    ],
    ...['echo x > .eslintrc.json', 'cp a b', 'git add -A && git commit -m x', 'git init sub'],
  ])('is something else: %s', (command) => {
    expect(verdictOn(command)).toMatchObject({ action: 'allow' });
  });
});

describe('variables that change what programs run or write', () => {
  it.each([
    ...['XDG_CONFIG_HOME=./cfg git status', 'SSLKEYLOGFILE=~/.bashrc curl x', 'MALLOC_TRACE=~/.bashrc ls'],
    ...['CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="rm -rf build" cargo run', 'RUSTC_WRAPPER=./x cargo build'],
    ...['npm_config_script_shell=./x npm test', 'KUBECONFIG=./k kubectl get pods', 'export GIT_CONFIG_COUNT=0'],
    ...['unset GIT_CONFIG_COUNT', 'PSQLRC=./x psql', 'DOCKER_CONFIG=./d docker ps'],
  ])('are asked about: %s', (command) => {
    expect(outcomeOf(command)).toBe('confirm obfuscated');
  });

  it('are asked about in the request, too', () => {
    expect(outcomeOf({ command: 'git status', env: { XDG_CONFIG_HOME: './cfg' } })).toBe('confirm obfuscated');
  });
});

describe('agents', () => {
  it.each([
    'codex exec --full-auto x',
    'gemini -y',
    'claude --dangerously-skip-permissions',
    'claude --permission-mode bypassPermissions',
  ])('that need not ask are asked about: %s', (command) => {
    expect(outcomeOf(command)).toBe('confirm obfuscated');
  });
});

describe('repositories of git', () => {
  it.each([
    'git --git-dir=evil status',
    'git --git-dir evil log',
    'git --git-dir=../x/.git status',
    'git --work-tree=/srv status',
  ])('in directories of other names are asked about: %s', (command) => {
    expect(outcomeOf(command)).toBe('confirm obfuscated');
  });
});

describe('options that name programs or files', () => {
  it.each([
    ...[
      'less --lesskey-src=lk f',
      'nm --plugin ./evil.so x',
      'tar --index-file=$HOME/.bashrc -cvf x y',
      'tar -g ~/.profile -cf x y',
    ],
    ...['ss -D ~/.bashrc'],
  ])('are asked about under `strict` too: %s', (command) => {
    expect(verdictOn(command, {}, { preset: 'strict' }).action).toBe('confirm');
    expect(verdictOn(command).action).toBe('confirm');
  });
});
