import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { disturb, HASTY, stillWorks, survives } from './harness/hostile.js';
import { oneOf, run, type Trap } from './harness/table.js';
import type { TrapContext } from './harness/context.js';

/** The builtins and keywords-in-all-but-name that a driver may need. */
const BUILTINS = [
  ...['read', 'printf', 'export', 'eval', 'mapfile', 'trap', 'kill', 'return', 'exit', 'builtin', 'command'],
  ...['unset', 'set', 'shopt', 'jobs', 'enable', 'declare', 'alias', 'local', '.', 'source', 'cd', ':', '[', 'test'],
];

/** Switches each of some names on and off again; after each, the session answers exactly. */
async function sweep(
  trap: TrapContext,
  list: string,
  on: string,
  off: string,
  except: readonly string[],
): Promise<void> {
  const names = (await trap.run(list)).stdout.split('\n').filter((name) => name !== '' && !except.includes(name));
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) {
    await trap.run(`${on} ${name}`);
    expect({ name, stdout: (await trap.run('echo ok')).stdout }).toEqual({ name, stdout: 'ok\n' });
    await trap.run(`${off} ${name}`);
    const { stdout, stderr, exit_code, session_state } = await trap.run('echo out; echo err >&2; (exit 3)');
    expect({ name, stdout, stderr, exit_code, session_state }).toEqual({
      name,
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 3,
      session_state: 'alive',
    });
  }
}

const options: Trap[] = [
  {
    id: 'K1',
    title: 'every option of shopt, on and off',
    run: (trap) => sweep(trap, 'compgen -A shopt', 'shopt -s', 'shopt -u', []),
  },
  survives('K1b', 'all options of shopt at once', ['shopt -s $(compgen -A shopt)', 'shopt -u $(compgen -A shopt)']),
  {
    id: 'K2',
    title: 'every option of set, on and off',
    run: (trap) => sweep(trap, 'compgen -A setopt', 'set -o', 'set +o', []),
  },
  survives('K2b', 'an option that ends a shell after one command', ['set -t', 'set +t']),
  {
    id: 'K2c',
    title: 'vi and emacs key bindings',
    steps: [
      run('set -o vi; set -o emacs; set +o emacs'),
      run(`bind 'set editing-mode vi'; bind '"\\C-m": "echo hacked"'; bind -x '"\\C-j": echo hacked'`, { stderr: /^/ }),
      stillWorks(),
    ],
  },
  {
    id: 'K2d',
    title: 'hash',
    steps: [run('hash -p /bin/false cat; hash -p /nonexistent stty'), stillWorks(), run('hash -r')],
  },
];

const builtins: Trap[] = [
  {
    id: 'K3x',
    title: 'any builtin disabled',
    steps: BUILTINS.filter((name) => name !== 'enable').flatMap((name) => [
      run(`enable -n ${name}`),
      stillWorks(),
      disturb(`enable ${name} || builtin enable ${name}`),
    ]),
    restarts: oneOf(0, 1),
    probe: stillWorks,
  },
  survives('K3', 'no builtin at all', ['enable -n $(compgen -b)'], {
    restarts: 1,
  }),
  {
    id: 'K4x',
    title: 'functions called as builtins, one after the other',
    steps: BUILTINS.flatMap((name) => [
      run(`function ${name} { echo hacked; }`),
      stillWorks(),
      // Before a command that may end the shell, its state may be saved.
      run('/bin/echo ok # exec', { stdout: 'ok\n' }),
      disturb(`\\unset -f -- ${name}`),
    ]),
    probe: stillWorks,
    restarts: expect.any(Number) as number,
  },
  survives(
    'K4',
    'functions called as all builtins',
    ['for b in $(compgen -b); do eval "function $b { return 7; }"; done'],
    {},
  ),
  survives('K4y', 'functions that exit', ['function builtin { command exit 5; }', 'function printf { exit 6; }'], {
    restarts: oneOf(0, 1, 2),
  }),
  survives('K5', 'aliases of all builtins and keywords', [
    'for b in $(compgen -b; compgen -k); do builtin alias -- "$b=false" 2>/dev/null; done; true',
  ]),
];

const variables: Trap[] = [
  survives(
    'K6',
    'the driver’s own variables, overwritten',
    ['for v in ${!__sa_*}; do [[ $v == __sa_dir || $v == __sa_slot ]] || eval "$v=junk"; done'],
    { restarts: oneOf(0, 1) },
  ),
  survives('K6b', 'the driver’s own variables, unset', ['unset ${!__sa_*}'], {
    restarts: oneOf(0, 1),
  }),
  survives('K6c', 'the driver’s own variables, readonly', ['readonly ${!__sa_*}'], { restarts: oneOf(0, 1) }),
  survives('K6d', 'the driver’s own functions, unset', ['unset -f $(compgen -A function)'], {
    restarts: oneOf(0, 1),
  }),
  survives('K6e', 'the driver’s own folder, removed', ['rm -rf -- "$__sa_dir"'], {
    losesNext: true,
    restarts: oneOf(0, 1),
  }),
  {
    id: 'K7',
    title: 'prompt commands of every kind',
    steps: [
      "PROMPT_COMMAND=('echo hacked' 'exit 3')",
      "PROMPT_COMMAND+=('echo hacked')",
      'unset PROMPT_COMMAND',
      'PROMPT_COMMAND="exit 4"',
      "declare -a PROMPT_COMMAND=(); PS0='$(echo hacked)' PS1='$(echo hacked)' PS2=x PS4='$(echo hacked >&2)'",
    ].flatMap((command) => [
      run(command),
      run('kill -INT $$; echo no', { exit_code: 130, status: oneOf('completed', 'interrupted') }),
      stillWorks(),
    ]),
  },
  survives('K7b', 'a readonly prompt command', ["PROMPT_COMMAND='echo hacked'; readonly PROMPT_COMMAND"], {
    restarts: oneOf(0, 1),
  }),
  {
    id: 'K8',
    title: 'traps on every signal',
    steps: [
      run(
        `for s in $(compgen -A signal); do case $s in SIGJUNK*|DEBUG|RETURN|ERR|EXIT) ;; *) trap ': got' "$s" ;; esac; done`,
        { stderr: /^/ },
      ),
      stillWorks(),
      run('/bin/true; (:); sleep 0.1 & wait'),
      run('for s in $(compgen -A signal); do trap - "$s"; done', { stderr: /^/ }),
      run(`for s in $(compgen -A signal); do trap '' "$s"; done`, { stderr: /^/ }),
      stillWorks(),
      run('exit 5', { exit_code: 5 }),
      disturb('for s in $(compgen -A signal); do trap - "$s"; done'),
    ],
  },
  {
    id: 'K8b',
    title: 'traps that return, exit or print at every turn',
    restarts: oneOf(0, 1),
    steps: [
      disturb("set -T; trap 'echo R' RETURN"),
      disturb('true'),
      disturb('trap - RETURN; set +T'),
      stillWorks(),
      disturb("set -ET; trap 'return 3' DEBUG"),
      disturb('true'),
      disturb('trap - DEBUG; set +ET'),
      stillWorks(),
    ],
  },
];

conformance('K. Hostile: options', options, HASTY);
conformance('K. Hostile: builtins', builtins, HASTY);
conformance('K. Hostile: variables and traps', variables, HASTY);
