import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import { TestDaemon } from '../../support/daemon.js';
import type { WireClient } from '../../support/wire.js';
import { callCli } from './in-process.js';
import { CliProcess, type CliOptions, makeFolder, runCli, urlVariable } from './support.js';

/** Small, so that the tests' input can be too large for it. */
const MAX_MESSAGE_BYTES = 16 * 1024;

let daemon: TestDaemon;
let wire: WireClient;
useDaemon((started) => ({ daemon, client: wire } = started), {
  settings: { socketio: { max_message_bytes: MAX_MESSAGE_BYTES } },
});

const withUrl = (options: CliOptions = {}): CliOptions => ({
  ...options,
  env: { ...urlVariable(daemon), ...options.env },
});
const exec = (args: readonly string[], options?: CliOptions) => callCli(['exec', ...args], withUrl(options));
/** The program itself, with pipes of its own. */
const execProgram = (args: readonly string[], options?: CliOptions) => runCli(['exec', ...args], withUrl(options));

/** Waits until a file is no longer there. */
const untilGone = async (path: string) => {
  for (let rounds = 0; existsSync(path) && rounds < 500; rounds++) await pause(20);
  return !existsSync(path);
};

describe('exec passes the output through', () => {
  const everyByte = String.raw`for i in {0..255}; do printf "\\x$(printf %x $i)"; done`;

  it('byte for byte, on standard output and standard error', async () => {
    const expected = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const { bytes, errorBytes, code } = await execProgram([`${everyByte}; { ${everyByte}; } >&2`]);
    expect({ code, bytes, errorBytes }).toEqual({ code: 0, bytes: expected, errorBytes: expected });
  });

  it('as one stream with --merge, in the order of writing', async () => {
    const { stdout, stderr, code } = await execProgram([
      '--merge',
      'for i in 1 2; do echo o$i; echo e$i >&2; done; exit 3',
    ]);
    expect({ stdout, stderr, code }).toEqual({ stdout: 'o1\ne1\no2\ne2\n', stderr: '', code: 3 });
  });

  it('while the command still runs', async () => {
    using folder = makeFolder();
    const fifo = join(folder.path, 'fifo');
    execFileSync('sh', ['-c', 'mkfifo "$0"', fifo]);
    await using call = new CliProcess(['exec', `echo first; read line <'${fifo}'; echo "$line"`], withUrl());
    await call.until('stdout', /^first\n$/);
    execFileSync('sh', ['-c', 'echo second >"$0"', fifo]);
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'first\nsecond\n' });
  });

  it('whole, however long it is', async () => {
    const { bytes, stderr } = await execProgram(['seq 1 2000000; seq 1 300000 >&2']);
    const hash = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
    const numbers = (last: number) => Array.from({ length: last }, (_, index) => `${index + 1}\n`).join('');
    expect(hash(bytes)).toBe(hash(numbers(2_000_000)));
    expect(hash(stderr)).toBe(hash(numbers(300_000)));
  });

  it('until its reader has gone: then it ends the command, without a word', async () => {
    using folder = makeFolder();
    const pidFile = join(folder.path, 'pid');
    await using call = new CliProcess(
      ['exec', `trap 'rm "${pidFile}"' EXIT; : >"${pidFile}"; while echo y; do :; done`],
      withUrl(),
    );
    await call.until('stdout', /y\n/);
    call.child.stdout.destroy();
    expect(await call.ended).toMatchObject({ code: 141, stderr: '' });
    expect(await untilGone(pidFile)).toBe(true);
  });
});

describe('exec gives the exit code', () => {
  it.each([
    ['0 of success', 'true', 0],
    ['of a failure', 'exit 3', 3],
    ['123', 'exit 123', 123],
    ['124 of the command itself', 'exit 124', 124],
    ['of a command that is not there', 'no-such-program', 127],
    ['of a file that is no program', '/etc/passwd', 126],
    ['of a signal', 'kill -TERM $$', 143],
    ['255', 'exit 255', 255],
  ])('%s', async (_what, command, expected) => {
    expect((await exec([command])).code).toBe(expected);
  });

  it('124 for a time-out, with what was printed and a word about it', async () => {
    const { code, stdout, stderr } = await execProgram(['--timeout', '0.5', 'echo partial; sleep 60']);
    expect({ code, stdout }).toEqual({ code: 124, stdout: 'partial\n' });
    expect(stderr).toMatch(/^shell-adapter: the command ran into its time-out and was ended after \d+\.\d s\n$/);
  });

  it('137 for a limit, with a word about it', async () => {
    const id = await wire.openSession({ limits: { memory_mb: 100 } });
    const hog = "python3 -c 'import time; a = bytearray(300 * 2**20); time.sleep(300)'";
    const { code, stderr } = await exec(['--session', id, hog]);
    expect(code).toBe(137);
    expect(stderr).toMatch(/^shell-adapter: ended: memory limit 100 MB reached \(peak [\d.]+ MB\)$/m);
    await wire.request('close_session', { session_id: id });
  });

  it('with warnings that matter on standard error, unless --quiet is given', async () => {
    const id = await wire.openSession();
    expect(await exec(['--session', id, 'kill -9 $$'])).toMatchObject({
      code: 137,
      stderr: expect.stringMatching(/^shell-adapter: The shell was ended by signal 9\. .*\n$/) as string,
    });
    expect(await exec(['--quiet', '--session', id, 'kill -9 $$'])).toMatchObject({ code: 137, stderr: '' });
    await wire.request('close_session', { session_id: id });
  });

  it('125 for a time-out that is too long, in the words of the command line', async () => {
    expect(await exec(['--timeout', '100000', 'true'])).toMatchObject({
      code: 125,
      stderr: 'shell-adapter: --timeout: at most 86400 s (command_max_lifetime of the daemon)\n',
    });
  });

  it.each([
    ['a session that is not there', ['--session', 'session_nope', 'true'], 'there is no session session_nope'],
    ['a directory that is not there', ['--cwd', '/nowhere', 'true'], '/nowhere does not exist'],
  ])('125 for %s', async (_what, args, message) => {
    const { code, stdout, stderr } = await exec(args);
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(stderr).toMatch(/^shell-adapter: /);
    expect(stderr).toContain(message);
  });

  it('125 when the daemon goes away under the command', async () => {
    const other = await TestDaemon.startCold();
    await using call = new CliProcess(['exec', 'echo up; sleep 60'], { env: urlVariable(other) });
    await call.until('stdout', /up/);
    await other[Symbol.asyncDispose]();
    const { code } = await call.ended;
    // The daemon's last word is the result of the command that it has ended; should that be lost, it is an error.
    expect([125, 137, 143, 130, 129]).toContain(code);
  });
});

describe('exec takes the command', () => {
  it.each([
    ['as shell text when it is one argument', ['echo "a  b" | tr a-z A-Z'], 'A  B\n'],
    ['as a program with arguments when there are more', ['printf', '%s|', 'a  b', '$HOME', '*', ''], 'a  b|$HOME|*||'],
    ['with its own options left alone', ['echo', '--json', '--url', 'x'], '--json --url x\n'],
    ['after --', ['--', 'echo', '--', '-n'], '-- -n\n'],
  ])('%s', async (_what, args, expected) => {
    expect(await exec(args)).toMatchObject({ code: 0, stdout: expected, stderr: '' });
  });

  it('with variables and a directory', async () => {
    using folder = makeFolder();
    const text = 'echo "$A $B" && pwd';
    const { stdout } = await exec(['--env', 'A=1=2', '--env', 'B', '--cwd', '.', text], {
      cwd: folder.path,
      env: { B: 'from here' },
    });
    expect(stdout).toBe(`1=2 from here\n${folder.path}\n`);
  });

  it('into a session, where what it changes stays', async () => {
    const id = await wire.openSession();
    expect((await exec(['-s', id, 'cd /usr && X=kept'])).code).toBe(0);
    expect((await exec(['--session', id, 'echo "$X in $PWD"'])).stdout).toBe('kept in /usr\n');
    expect((await exec(['-s', id, '--json', 'false'])).code).toBe(1);
    await wire.request('close_session', { session_id: id });
  });

  it('and prints its result as JSON when asked', async () => {
    const { code, stdout } = await exec(['--json', 'echo out; echo err >&2; exit 4']);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 4,
      original_stdout_size: 4,
    });
  });
});

describe('exec passes standard input on', () => {
  it.each([
    ['text', 'a line\nno newline at the end'],
    ['nothing', ''],
    ['characters of all sizes, a byte order mark, NUL', '\u{feff}é漢😀\0x\r\n'],
  ])('as it is: %s', async (_what, input) => {
    const { bytes, code } = await exec(['cat'], { input });
    expect({ code, text: bytes.toString() }).toEqual({ code: 0, text: input });
  });

  it('to a command in a session, too', async () => {
    const id = await wire.openSession();
    expect((await exec(['-s', id, 'wc -c'], { input: 'x'.repeat(10_000) })).stdout.trim()).toBe('10000');
    await wire.request('close_session', { session_id: id });
  });

  it('not at all with --no-stdin, even if it never ends', async () => {
    await using call = new CliProcess(['exec', '--no-stdin', 'cat; echo done'], withUrl({ input: { open: true } }));
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' });
  });

  it('while the command runs, however late it comes', async () => {
    await using call = new CliProcess(['exec', 'echo up; cat'], withUrl({ input: { open: true } }));
    await call.until('stdout', /up\n/);
    call.child.stdin?.end('late');
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'up\nlate', stderr: '' });
  });

  it.each([
    ['as large as a message may be', Buffer.alloc(MAX_MESSAGE_BYTES, 'x')],
    ['larger than any message may be', Buffer.alloc(4 * 1024 * 1024 + 1, 'x')],
    ['not text', Buffer.from([0x61, 0xff])],
  ])('when it is %s', async (_what, input) => {
    const { code, bytes, stderr } = await execProgram(['cat'], { input });
    expect({ code, stderr, isEqual: bytes.equals(input) }).toEqual({ code: 0, stderr: '', isEqual: true });
  });
});

describe('exec hands signals on', () => {
  it.each([
    ['SIGINT', 'SIGINT', 5],
    ['SIGTERM', 'SIGTERM', 6],
    ['SIGHUP', 'SIGHUP', 7],
  ] as const)('%s to the command, whose exit code is given', async (_name, signal, expected) => {
    const traps = 'trap "exit 5" INT; trap "exit 6" TERM; trap "exit 7" HUP';
    await using call = new CliProcess(['exec', `${traps}; echo ready; sleep 60 & wait`], withUrl());
    await call.until('stdout', /ready/);
    call.child.kill(signal);
    expect((await call.ended).code).toBe(expected);
  });

  it('in a session, which goes on', async () => {
    const id = await wire.openSession();
    await using call = new CliProcess(['exec', '-s', id, 'echo ready; sleep 60'], withUrl());
    await call.until('stdout', /ready/);
    call.child.kill('SIGINT');
    expect((await call.ended).code).toBe(130);
    expect((await exec(['-s', id, 'echo alive'])).stdout).toBe('alive\n');
    await wire.request('close_session', { session_id: id });
  });

  it('twice; the third one leaves a command that ignores them', async () => {
    const id = await wire.openSession();
    await using call = new CliProcess(
      ['exec', '-s', id, `bash -c 'trap "echo ignored" INT; echo ready; while :; do sleep 0.1; done'`],
      withUrl(),
    );
    await call.until('stdout', /ready/);
    call.child.kill('SIGINT');
    await call.until('stdout', /ignored/);
    call.child.kill('SIGINT');
    await call.until('stdout', /ignored\n(?:.|\n)*ignored/);
    call.child.kill('SIGINT');
    expect((await call.ended).code).toBe(130);
    await wire.request('close_session', { session_id: id });
  });

  it('to itself as long as there is no command', async () => {
    // A daemon that takes the connection and says nothing.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const connected = once(silent, 'connection');
    const { port } = silent.address() as AddressInfo;
    await using call = new CliProcess(['exec', '--url', `http://127.0.0.1:${port}`, 'cat'], {
      input: { open: true },
    });
    const [connection] = (await connected) as [Socket];
    call.child.kill('SIGTERM');
    expect((await call.ended).code).toBe(143);
    connection.destroy();
    silent.close();
  });
});
