import { describe, expect, it } from 'vitest';

import { factsOfFreshShell, type TypingFacts } from '../../../../../src/core/policy/model.js';
import { inspect } from '../../../../../src/core/policy/analysis/inspect.js';
import { decide, PRESETS, withoutTypedText } from '../../../../../src/core/policy/policy.js';
import { continueLine, hasEditingKeys, isHarmlessTyping } from '../../../../../src/core/policy/subject/read-command.js';

const IN_SESSION: TypingFacts = { input: true, screen: false };
const ON_TERMINAL: TypingFacts = { input: true, screen: true };

/** The programs of a command that execute what is typed, with how they read it. */
const typedIn = (command: string, typing = ON_TERMINAL): string[] =>
  inspect({ command }, factsOfFreshShell('/work', { typing })).commands.flatMap(({ program, typed }) =>
    typed ? [`${program ?? ''}: ${typed}`] : [],
  );

describe('programs that take typed input', () => {
  it.each([
    ['bash', 'bash: shell'],
    ['/bin/sh', 'sh: shell'],
    ['bash --norc -i', 'bash: shell'],
    ['bash -i script.sh', 'bash: shell'],
    ['bash --rcfile x', 'bash: shell'],
    ['bash /dev/tty', 'bash: shell'],
    ['exec zsh', 'zsh: shell'],
    ['sleep 1; bash', 'bash: shell'],
    ['env A=1 bash', 'bash: shell'],
    ["bash -c 'python3'", 'python: code'],
    ['fish', 'fish: code'],
    ['python3', 'python: code'],
    ['python3 -q', 'python: code'],
    ['python3 -W ignore', 'python: code'],
    ['python3 -i script.py', 'python: code'],
    ['python3 -m pdb script.py', 'python: code'],
    ['python3 < /dev/tty', 'python: code'],
    ['node', 'node: code'],
    ['node --require ./x', 'node: code'],
    ['deno repl', 'deno: code'],
    ['irb', 'irb: code'],
    ['psql -h db app', 'psql: code'],
    ['sqlite3 app.db', 'sqlite3: code'],
    ['sqlite3 -header app.db', 'sqlite3: code'],
    ['redis-cli -h db', 'redis-cli: code'],
    ['bc -l', 'bc: code'],
    ['gdb ./a.out', 'gdb: code'],
    ['vim f', 'vim: code'],
    ['nano f', 'nano: code'],
    ['git log | less', 'less: code'],
    ['cat f | vim -', 'vim: code'],
    ['less f', 'less: code'],
    ['ssh host', 'ssh: code'],
    ['ssh -p 22 -t host', 'ssh: code'],
    ['ssh host bash', 'bash: shell'],
    ['sudo -i', 'sudo: shell'],
    ['su -', 'su: shell'],
    ['docker exec -it c sh', 'docker: code'],
    ['docker run --rm -e A=1 -ti image', 'docker: code'],
    ['kubectl exec pod -it -- sh', 'kubectl: code'],
    ['tmux', 'tmux: code'],
    ['tmux attach -t x', 'tmux: code'],
    ['make -f -', 'make: code'],
  ])('%s: %s', (command, expected) => {
    expect(typedIn(command)).toContain(expected);
  });

  it.each([
    'ls',
    'cat',
    'top',
    'bash script.sh',
    "bash -c 'read x'",
    "bash -lc 'ls'",
    'bash --version',
    'echo hi | python3',
    'python3 script.py',
    'python3 -m http.server',
    "python3 -c 'print(1)'",
    'python3 < script.py',
    'python3 --version',
    'python3 -V',
    'node server.js',
    'node -v',
    "node -e '1'",
    'perl -i -pe s/a/b/ f',
    'perl -pi -e s/a/b/ f',
    "psql -c 'select 1' app",
    "psql -Atc 'select 1' app",
    'psql app < dump.sql',
    "mysql -Ne 'select 1'",
    "sqlite3 app.db 'select 1'",
    'redis-cli -h db ping',
    'gdb -batch -ex bt -p 1',
    'vim --version',
    'ssh host uptime',
    'ssh -N -L 1:localhost:1 host',
    'cat f | ssh host',
    'sudo ls',
    'su - user -c ls',
    'docker ps -it',
    'docker exec c ls',
    'docker run image grep -i foo',
    'kubectl get pods -o wide',
    'kubectl exec pod -- ls -it',
    'tmux ls',
    'tmux new -d -s x',
    'make',
    'npm test',
    './tool',
  ])('%s takes none', (command) => {
    expect(typedIn(command)).toEqual([]);
  });

  it('pagers page on a screen only, and without a terminal nothing can be typed at all', () => {
    expect(typedIn('less f', IN_SESSION)).toEqual([]);
    expect(typedIn('vim f', IN_SESSION)).toEqual(['vim: code']);
    expect(typedIn('python3; vim f; bash', { input: false, screen: false })).toEqual([]);
  });

  it.each([
    ['permissive', 'allow'],
    ['balanced', 'confirm'],
    ['strict', 'confirm'],
  ] as const)('are of the class `interactive`: %s says %s', (preset, action) => {
    const facts = factsOfFreshShell('/work', { typing: ON_TERMINAL });
    expect(decide({ actions: PRESETS[preset], rules: [] }, { command: 'python3' }, facts)).toMatchObject({
      action,
      class: 'interactive',
      reasons: expect.arrayContaining(['python3 takes typed input that the policy cannot judge']) as unknown,
      takesTyping: true,
    });
  });
});

describe('a line that is typed', () => {
  it.each([
    ['', 'rm -rf', false, '', 'rm -rf'],
    ['rm ', '-rf x\n', false, 'rm -rf x\n', ''],
    ['', 'ls\nrm', false, 'ls\n', 'rm'],
    ['', 'ls\rrm', false, 'ls\n', 'rm'],
    ['rm x', '', true, 'rm x', ''],
    ['rm x', '\x04', false, 'rm x\n', ''],
    ['rm x', '\x0f', false, 'rm x\n', ''],
    ['', 'r\\\n', false, '', 'r\\\n'],
    ['r\\\n', 'm x\n', false, 'r\\\nm x\n', ''],
    ['', 'echo \\\\\n', false, 'echo \\\\\n', ''],
    ['', 'ls\nr\\\n', false, 'ls\n', 'r\\\n'],
    ['rm x', '\x03', false, '', ''],
    ['rm x', '\x03ls\n', false, 'ls\n', ''],
    ['', 'rm x\n\x03ls', false, 'rm x\n\n', 'ls'],
    ['r', '\x1am x\n', false, 'rm x\n', ''],
  ])('%j, then %j (end: %s) finishes %j and leaves %j', (line, typed, isEnd, finished, rest) => {
    expect(continueLine(line, typed, isEnd)).toEqual({ finished, rest });
  });

  it.each([
    ['rm x\n', false],
    ['\x1b[A', true],
    ['r\x7f', true],
    ['ls \t', true],
    ['\x10\n', true],
  ])('%j has keys that edit it: %s', (text, expected) => {
    expect(hasEditingKeys(text)).toBe(expected);
  });

  it.each([
    ['', true],
    ['\x03', true],
    ['\x04', true],
    ['\r\n', true],
    ['y', false],
    ['\x1b[A', false],
  ])('%j executes nothing by itself: %s', (text, expected) => {
    expect(isHarmlessTyping(text)).toBe(expected);
  });

  it('is not part of what others see of its verdict', () => {
    const policy = { actions: PRESETS.strict, rules: [] };
    const verdict = decide(policy, { command: 'rm -rf hunter2; s3cret --x' }, factsOfFreshShell('/work'));
    const shown = withoutTypedText(verdict);
    expect(JSON.stringify(shown)).not.toMatch(/hunter2|s3cret/);
    expect(shown).toMatchObject({
      action: 'confirm',
      reasons: ['rm deletes or overwrites something, or ends processes', 'a program runs a program'],
    });
  });
});
