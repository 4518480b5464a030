import type { ProgramFamily } from '../../family/program-family.js';
import { repl, typedCode, typedScript } from '../../family/typing-rules.js';
import { each } from '../../subject/program-spec.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';
import { WRAPPERS } from './wrappers.js';

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
