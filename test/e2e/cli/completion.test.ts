import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { callCli } from './in-process.js';
import { makeFolder, runCli } from './support.js';

type Shell = 'bash' | 'zsh' | 'fish';

const isInstalled = (shell: Shell): boolean => spawnSync(shell, ['-c', ':']).status === 0;

/** Programs that print the completions of a command line, one on each line: `script` is the file with the completion script. */
const COMPLETERS: Readonly<Record<Shell, (script: string, line: string) => string>> = {
  // What bash does at a Tab.
  bash: (script, line) => `
    source ${script}
    read -ra COMP_WORDS <<< '${line}'; [[ '${line}' == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )) COMP_LINE='${line}' COMP_POINT=${line.length}
    _shell_adapter; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // A Tab typed into an interactive zsh on a terminal of its own, whose list of choices is printed.
  zsh: (script, line) => `
    zmodload zsh/zpty
    zpty z zsh -f -i
    zpty -w z 'autoload -Uz compinit && compinit -u -D; PROMPT=; unsetopt beep; LISTMAX=0; source ${script}'
    zpty -w z 'comppostfuncs=(show); show() { print -r -- ">>\${(j: :)compstate[nmatches]}<<" } ; autolist() {}; zstyle ":completion:*" verbose no; zstyle ":completion:*" list-separator ""'
    zpty -w z 'compadd() { local -a got; builtin compadd -O got "$@"; print -rl -- "<match>"\${^got}; builtin compadd "$@" }; print ready'
    zpty -r -m z line '*ready*ready*'
    zpty -n -w z '${line}'$'\\t'
    zpty -r -m z out '*>>*<<*'
    print -r -- $out | tr -d '\\r' | sed -n 's/^.*<match>//p'; zpty -d z`,
  fish: (script, line) => `source ${script}; complete -C '${line}' | string split -f1 \\t; true`,
};

const scripts = new Map<Shell, Promise<string>>();
const scriptFor = (shell: Shell): Promise<string> => {
  const known = scripts.get(shell) ?? runCli(['completion', shell]).then(({ stdout }) => stdout);
  scripts.set(shell, known);
  return known;
};

async function complete(shell: Shell, line: string): Promise<string[]> {
  using folder = makeFolder();
  const script = join(folder.path, 'script');
  writeFileSync(script, await scriptFor(shell));
  mkdirSync(join(folder.path, 'some folder'));
  writeFileSync(join(folder.path, 'some file'), '');
  const output = execFileSync(shell, ['-c', COMPLETERS[shell](script, line)], {
    cwd: folder.path,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder.path, TERM: 'dumb', LANG: 'C.UTF-8' },
    timeout: 20_000,
  });
  return output
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => text.trim())
    .sort();
}

describe.each(['bash', 'zsh', 'fish'] as const)('completion in %s', (shell) => {
  it.skipIf(!isInstalled(shell)).each<[string, string[]]>([
    ['shell-adapter stat', ['status']],
    ['shell-adapter token ', ['create', 'help', 'list', 'revoke', 'rotate']],
    ['shell-adapter token create --role ', ['admin', 'agent', 'operator', 'viewer']],
    ['shell-adapter open --sandbox ', ['none', 'strict', 'workspace']],
    ['shell-adapter exec --timeout 5 --sand', ['--sandbox']],
    ['shell-adapter completion ', ['bash', 'fish', 'zsh']],
    ['shell-adapter close ', []],
  ])('%j', async (line, expected) => {
    expect(await complete(shell, line)).toEqual(expected);
  });
});

describe('completion of files', () => {
  it.skipIf(!isInstalled('bash'))('follows --config, and a command of exec', async () => {
    expect(await complete('bash', 'shell-adapter serve --config some')).toEqual(['some file', 'some folder']);
    expect(await complete('bash', 'shell-adapter exec cat --sand')).toEqual([]);
    expect(await complete('bash', 'shell-adapter exec cat some')).toEqual(['some file', 'some folder']);
  });
});

describe('the file of zsh in the package', () => {
  it.skipIf(!isInstalled('zsh'))('works from a folder of $fpath, at the first Tab', () => {
    const folder = fileURLToPath(new URL('../../../completions', import.meta.url));
    const complete = COMPLETERS.zsh('/dev/null', 'shell-adapter completion ').replace(
      'autoload',
      `fpath=(${folder} $fpath); autoload`,
    );
    const env = { PATH: process.env['PATH'], HOME: '/nonexistent', TERM: 'dumb', LANG: 'C.UTF-8' };
    const output = execFileSync('zsh', ['-c', complete], { encoding: 'utf8', env, timeout: 20_000 });
    expect(output.split('\n').filter((text) => text !== '')).toEqual(['bash', 'zsh', 'fish']);
  });
});

describe('the script', () => {
  it.each(['bash', 'zsh', 'fish'] as const)('for %s knows every subcommand', async (shell) => {
    const stdout = await scriptFor(shell);
    const { stdout: help } = await callCli(['--help']);
    const names = [...help.matchAll(/^ {2}([a-z]+) (?:\[|<| )/gm)].map(([, name = '']) => name);
    expect(names).toContain('completion');
    for (const name of names.filter((each) => each !== 'help')) expect(stdout).toContain(`'${name}`);
  });

  it('for another shell is refused, with those that there are', async () => {
    const { code, stderr } = await callCli(['completion', 'csh']);
    expect(code).toBe(2);
    expect(stderr).toContain('Allowed choices are bash, zsh, fish');
  });
});
