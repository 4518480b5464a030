import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';

import { expect, test } from 'vitest';

import type { InstalledShell } from '../../../src/engine/shells/list.js';
import { oneShotText, type OneShotRequest } from '../../../src/engine/shells/one-shot-text.js';

interface Ending {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Texts that a pre-started shell must run as `sh -c` would: same stdout, same code, something on stderr or nothing. */
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
];

/** A shell that was started ahead of need runs a text as one started for it. */
export function oneShotTests(shell: () => InstalledShell): void {
  test.each(TEXTS)('%s', async (_title, text) => {
    const { installed, args } = { installed: shell(), args: ['-c', text, shell().shell.name] };
    const plain = await finish(spawn(installed.path, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
    const actual = await runOneShot(installed, { text });
    expect({ ...actual, stderr: actual.stderr !== '' }).toEqual({ ...plain, stderr: plain.stderr !== '' });
  });

  test('variables, directory and stdin of its own', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-contract-one-shot-'));
    try {
      const stdinFile = join(directory, 'in');
      writeFileSync(stdinFile, 'a\nb');
      const text = 'printf "%s|" "$K" "$PWD" "${OLDPWD-unset}" "$(sh -c \'echo "$K"\')"; cat';
      const request = { text, stdinFile, cwd: '/usr', env: { K: "v'1\n2" } };
      expect(await runOneShot(shell(), request)).toMatchObject({
        stdout: "v'1\n2|/usr|unset|v'1\n2|a\nb",
        exitCode: 0,
      });
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

  test('it goes when it is not needed', async () => {
    expect(await runOneShot(shell(), { text: 'echo ran' }, 'end\n')).toMatchObject({ stdout: '', exitCode: 0 });
    expect(await runOneShot(shell(), { text: 'echo ran' }, '')).toMatchObject({ stdout: '', exitCode: 0 });
  });
}

async function runOneShot(installed: InstalledShell, request: OneShotRequest, word = 'go\n'): Promise<Ending> {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-contract-one-shot-'));
  try {
    const requestFile = join(directory, 'request');
    const { args = [], env = {} } = installed.shell.oneShot?.(requestFile) ?? {};
    const child = spawn(installed.path, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    writeFileSync(requestFile, oneShotText(request));
    (child.stdio[3] as Writable).end(word);
    return await finish(child);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function finish(child: ReturnType<typeof spawn>): Promise<Ending> {
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const [stdout, stderr] = await Promise.all([readAll(child.stdout as Readable), readAll(child.stderr as Readable)]);
  const [exitCode, signal] = await closed;
  return { stdout, stderr, exitCode, signal };
}
