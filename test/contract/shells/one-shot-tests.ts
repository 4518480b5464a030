import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';

import { expect, test } from 'vitest';

import type { InstalledShell } from '../../../src/engine/shells/list.js';
import { linux } from '../../../src/engine/platform/linux/linux.js';
import {
  needsFile,
  type OneShotRequest,
  requestText,
  textArguments,
  textInFile,
  waitingShell,
} from '../../../src/engine/shells/one-shot.js';

interface Ending {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Texts that a waiting shell runs as `sh -c` does: the same bytes on both streams, the same end. */
const TEXTS: readonly (readonly [title: string, text: string])[] = [
  ['an exit code', 'echo a; exit 3; echo no'],
  ['return', 'echo a; return 4; echo no'],
  ['the last status', 'echo a; false'],
  ['no parameters, and its name', 'echo "$0 $# $*"'],
  ['a syntax error', 'echo "abc'],
  ['a command that is not there', 'no_such_program_xyz'],
  ['set -e', 'set -e; false; echo no'],
  ['exec', 'exec sh -c "echo out; exit 5"'],
  ['its own end by a signal', 'kill -KILL $$'],
  ['an EXIT trap', 'trap "echo bye" EXIT; exit 2'],
  ['nothing on stdin', 'cat; echo end'],
  ['a here-document', "cat <<'EOF'\na $b\nEOF\necho x"],
  ['functions and loops', 'f() { echo "f $1"; }\nfor i in 1 2; do f $i; done'],
  ['stderr', 'echo e >&2; echo o'],
  ['no descriptor of the request', 'ls /proc/self/fd | wc -l'],
  ['no variable of the adapter', 'set | grep -c "^__sa"; true'],
  ['an empty text', ''],
  ['lines that count from 1', 'echo a\nno_such_program_xyz\nif true; then\n  no_such_program_xyz\nfi'],
  ['an option that traces', 'set -x; echo hi'],
  ['an error that ends the text', 'set -u\necho "$undefined"\necho end'],
  ['a parameter that has to be set', 'echo "${x?need x}"\necho end'],
  ['a syntax error in a later line', 'echo a\nif'],
  ['break and continue outside of a loop', 'break\ncontinue\necho after'],
  ['a function with an error', 'f() {\n  no_such_program_xyz\n}\nf'],
  ['a child that is killed', 'sh -c "kill -9 \\$\\$"'],
  [
    'a variable of the environment',
    'env | grep -c "^_*SA\\|^__sa\\|BASH_ENV"; echo "${OLDPWD-none}"; cd /; env | grep OLDPWD',
  ],
];

/** Texts that bash alone has words for. */
const BASH_TEXTS: readonly (readonly [title: string, text: string])[] = [
  ['LINENO and traps', 'echo $LINENO\ntrap \'echo "$LINENO $BASH_COMMAND"\' ERR DEBUG\nfalse\necho x'],
  ['the stack of callers', 'f() { caller; echo "$BASH_SOURCE ${FUNCNAME[*]} ${BASH_LINENO[*]}"; }\ncaller\nf'],
  ['a test that does not parse', '[[ a 3< b ]]\necho $?'],
  ['its options, and what it runs', 'echo "$- $SHLVL"; declare -p BASH_EXECUTION_STRING OLDPWD'],
  ['readonly variables in POSIX mode', 'set -o posix; readonly x=1; x=2; echo end'],
  ['return and history', 'return 3; echo $? "$0"; history; fc -l'],
];

/** A shell that was started ahead of need runs a text as one started for it. */
export function oneShotTests(name: string, shell: () => InstalledShell): void {
  const texts = name === 'bash' ? [...TEXTS, ...BASH_TEXTS] : TEXTS;
  test.each(texts)('%s', async (_title, text) => {
    const installed = shell();
    const args = textArguments(installed, text);
    const plain = await finish(spawn(installed.path, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
    expect(await runOneShot(installed, { text })).toEqual(plain);
    expect(await runOneShot(installed, { text }, { isGiven: false })).toEqual(plain);
  });

  test('a text that is too long for an argument', async () => {
    const text = `: ${'x'.repeat(200_000)}\necho end; exit 3`;
    expect(await runOneShot(shell(), { text })).toMatchObject({ stdout: 'end\n', stderr: '', exitCode: 3 });
  });

  test('variables, directory and stdin of its own', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-contract-one-shot-'));
    try {
      const stdinFile = join(directory, 'in');
      writeFileSync(stdinFile, 'a\nb');
      const text = 'printf "%s|" "$K" "$PWD" "${OLDPWD-unset}" "$(sh -c \'echo "$K"\')"; cat; cd /; env | grep OLDPWD';
      const own = { cwd: '/usr', env: { K: "v'1\n2" } };
      const stdin = openSync(stdinFile, 'r');
      const env = { ...process.env, OLDPWD: undefined, ...own.env };
      const args = textArguments(shell(), text);
      const plain = await finish(spawn(shell().path, args, { cwd: own.cwd, env, stdio: [stdin, 'pipe', 'pipe'] }));
      closeSync(stdin);
      expect(plain.stdout).toContain("v'1\n2|/usr|");
      expect(await runOneShot(shell(), { text, stdinFile, ...own })).toEqual(plain);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('both streams as one, in the order of writing', async () => {
    const text = 'for i in 1 2 3; do echo o$i; echo e$i >&2; done';
    expect(await runOneShot(shell(), { text, isMerged: true })).toMatchObject({
      stdout: 'o1\ne1\no2\ne2\no3\ne3\n',
      stderr: '',
      exitCode: 0,
    });
  });

  test('a directory that is not there', async () => {
    const { stdout, exitCode } = await runOneShot(shell(), { text: 'echo ran', cwd: '/no/such/directory' });
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 126 });
  });

  test('it ends when the file that it waits in is gone', async ({ skip }) => {
    const { file, args, env } = waitingShell(shell(), '/no/request');
    skip(env['BASH_ENV'] === undefined, 'this shell waits without a file');
    const child = spawn(file, args, {
      env: { ...process.env, ...env, BASH_ENV: '/no/such/file' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    expect(await finish(child)).toMatchObject({
      stdout: '',
      stderr: 'shell-adapter: /no/such/file cannot be read: start the daemon again\n',
      exitCode: 126,
    });
  });

  test('it goes when it is not needed', async () => {
    expect(await runOneShot(shell(), { text: 'echo ran' }, { line: 'end\n' })).toMatchObject({
      stdout: '',
      exitCode: 0,
    });
    expect(await runOneShot(shell(), { text: 'echo ran' }, { line: '' })).toMatchObject({ stdout: '', exitCode: 0 });
  });
}

/**
 * Runs a text as a shell does that was started ahead of need.
 * @param options the line that ends the wait, and whether the text takes the place of an argument where it can
 */
export async function runOneShot(
  installed: InstalledShell,
  request: OneShotRequest,
  { line = 'go\n', isGiven = true }: { line?: string; isGiven?: boolean } = {},
): Promise<Ending> {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-contract-one-shot-'));
  try {
    const requestFile = join(directory, 'request');
    const textFile = join(directory, 'text');
    const text = needsFile(request.text) ? textInFile(installed, textFile) : request.text;
    writeFileSync(textFile, request.text);
    writeFileSync(requestFile, requestText({ ...request, text }));
    const { file, args, env, textIndex } = waitingShell(installed, requestFile);
    const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    if (isGiven && textIndex !== undefined) {
      // Not before it has executed its program.
      const give = () => linux.processes.replaceArgument(child.pid ?? 0, [file, ...args], textIndex + 1, text);
      await expect.poll(give).toBe(true);
    }
    (child.stdio[3] as Writable).end(line);
    return await finish(child);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Collects what a program prints, and how it ends. */
export async function finish(child: ReturnType<typeof spawn>): Promise<Ending> {
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const [stdout, stderr] = await Promise.all([readAll(child.stdout as Readable), readAll(child.stderr as Readable)]);
  const [exitCode, signal] = await closed;
  return { stdout, stderr, exitCode, signal };
}
