import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type IPty, spawn } from 'node-pty';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { ProcessEntry, TerminalReader } from '../../../../src/engine/platform/platform.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { sendSignal } from '../../../../src/engine/system/signals.js';
import { readProc } from '../../../../src/engine/platform/linux/process-table.js';

const { findTerminalReader, childrenOf, read } = linux.processes;
const POLL_MS = 20;
/** Looks that must find a program at the same point, before it counts as one that waits. */
const LOOKS_AT_REST = 8;

/** What needs no program but these waits for a terminal: the kinds of waits, and the programs that have them. */
const PYTHON_SERVER = `import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()`;
const WAITING: readonly [title: string, program: string, command: string, kind?: TerminalReader['kind']][] = [
  ['read', 'bash', 'read x'],
  ['read -s', 'bash', "bash -c 'read -s x'; true"],
  ['read -t', 'bash', "bash -c 'read -t 600 x'; true"],
  ['a menu of bash', 'bash', "bash -c 'select x in a b; do :; done'; true"],
  ['cat', 'cat', 'cat; true'],
  ['the first of a pipeline', 'cat', 'cat | wc -l'],
  ['a program that opens /dev/tty', 'head', 'head -1 </dev/tty; true'],
  ['ed', 'ed', 'ed; true'],
  ['perl', 'perl', `perl -e 'my $x = <STDIN>'; true`],
  ['python3 with input()', 'python3', `python3 -c 'input("Name? ")'; true`],
  ['python3 with getpass', 'python3', `python3 -c 'import getpass; getpass.getpass()'; true`],
  ['the prompt of python3', 'python3', 'python3 -q; true'],
  ['python3 with select()', 'python3', `python3 -c 'import select; select.select([0], [], [])'; true`],
  [
    'python3 with poll()',
    'python3',
    `python3 -c 'import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()'; true`,
  ],
  ['python3 with readv()', 'python3', `python3 -c 'import os; os.readv(0, [bytearray(9)])'; true`],
  ['an event loop of python3', 'python3', `python3 -c '${asyncioReader()}'; true`],
  ['another thread of python3', 'python3', `python3 -c '${threadReader()}'; true`],
  ['the prompt of node', 'node', 'node -i; true'],
  ['node with readline', 'node', `node -e 'require("readline").createInterface({ input: process.stdin })'; true`],
  ['node in raw mode', 'node', `node -e 'process.stdin.setRawMode(true).resume()'; true`],
  ['the prompt of bash', 'bash', 'bash --norc --noprofile -i; true'],
  ['the prompt of zsh', 'zsh', 'zsh -f -i; true'],
  ['the prompt of fish', 'fish', 'fish --no-config -i; true'],
  ['sqlite3', 'sqlite3', 'sqlite3; true'],
  ['bc', 'bc', 'bc -q; true'],
  ['gdb', 'gdb', 'gdb -q -nx; true'],
  ['tclsh', 'tclsh', 'tclsh; true'],
  ['vim', 'vim', 'vim -u NONE f; true'],
  ['less', 'less', 'seq 1000 | less; true'],
  ['more', 'more', 'seq 1000 >lines; more lines; true'],
  ['top', 'top', 'top -d 100; true'],
  ['rm -i', 'rm', '>kept; rm -i kept; true'],
  ['ssh-keygen that asks for a passphrase', 'ssh-keygen', 'ssh-keygen -q -f key; true'],
  ['openssl that asks for a passphrase', 'openssl', 'openssl passwd; true'],
  ['the editor of git', 'git', 'git init -q r; git -C r -c core.editor="vim -u NONE" commit -q --allow-empty; true'],
  ['what script(1) runs', 'script', `script -qc 'read x' /dev/null; true`],
  ['script in script', 'script', `script -qc "script -qc 'read x' /dev/null" /dev/null; true`],
  ['the client of screen(1)', 'screen', 'screen -c /dev/null; true'],
  ['a program that waits for a server too', 'python3', `python3 -c '${selectBoth()}'; true`, 'also'],
  ['node with readline that serves', 'node', `node -e '${nodeReadsAndServes()}'; true`, 'also'],
];

/** `$SILENT` is the port of a server that accepts and says nothing. */
const NOT_WAITING: readonly [title: string, program: string, command: string][] = [
  ['http.server', 'python3', 'python3 -m http.server --bind 127.0.0.1 0; true'],
  ['an HTTP server of node', 'node', `node -e 'require("http").createServer().listen(0, "127.0.0.1")'; true`],
  ['redis-server', 'redis-server', 'redis-server --port 0 --unixsocket ./redis.sock --save ""; true'],
  ['ssh-agent', 'ssh-agent', 'ssh-agent -D -a ./agent.sock; true'],
  ['gpg-agent', 'gpg-agent', 'gpg-agent --homedir "$PWD" --daemon sleep 600; true'],
  ['openssl s_server', 'openssl', `${selfSigned()}; openssl s_server -quiet -accept 127.0.0.1:0 -key k -cert c; true`],
  ['a server of python3 in poll', 'python3', `python3 -c "${PYTHON_SERVER}; ${pollOf('s')}"; true`],
  [
    'a server of python3 in select',
    'python3',
    `python3 -c "${PYTHON_SERVER}; import select; select.select([s], [], [])"; true`,
  ],
  ['a server of python3 in accept', 'python3', `python3 -c "${PYTHON_SERVER}; s.accept()"; true`],
  ['an event loop of python3 that serves', 'python3', `python3 -c '${asyncioServer()}'; true`],
  ['socat that listens', 'socat', 'socat TCP-LISTEN:0,bind=127.0.0.1 STDOUT; true'],
  ['nc that listens', 'nc', 'nc -l 127.0.0.1 0 </dev/null; true'],
  ['select of nothing', 'python3', `python3 -c 'import select; select.select([], [], [], 600)'; true`],
  ['poll of nothing', 'python3', `python3 -c 'import select; select.poll().poll(600000)'; true`],
  ['epoll of nothing', 'python3', `python3 -c 'import select; select.epoll().poll(600)'; true`],
  ['select of perl', 'perl', `perl -e 'select(undef, undef, undef, 600)'; true`],
  [
    'communicate()',
    'python3',
    `python3 -c 'import subprocess as s; s.Popen(["sleep", "600"], stdout=-1, stderr=-1).communicate()'; true`,
  ],
  ['a queue of python3', 'python3', `python3 -c 'import multiprocessing as m; m.Queue().get()'; true`],
  ['signal.pause()', 'python3', `python3 -c 'import signal; signal.pause()'; true`],
  ['another terminal', 'python3', `python3 -c 'import os; m, s = os.openpty(); os.read(s, 1)'; true`],
  ['another terminal in poll', 'python3', `python3 -c 'import os; m, s = os.openpty(); ${pollOf('s')}'; true`],
  ['output to the terminal in poll', 'python3', `python3 -c 'import os; r, w = os.pipe(); ${pollOf('r')}'; true`],
  ['tail -f', 'tail', '>log; tail -f log; true'],
  ['tail -F', 'tail', '>log; tail -F log absent; true'],
  ['inotifywait', 'inotifywait', 'inotifywait -q .; true'],
  ['sleep', 'sleep', 'sleep 600; true'],
  ['a loop of sleeps', 'sleep', 'while :; do sleep 600; done'],
  ['a timer of node', 'node', `node -e 'setTimeout(() => {}, 600000)'; true`],
  ['the builtin wait', 'sleep', 'sleep 600 & wait'],
  ['xargs', 'sleep', 'echo 600 | xargs sleep'],
  ['make', 'make', `printf 'all:\\n\\tsleep 600\\n' >Makefile; make; true`],
  ['a pipeline whose first part is silent', 'sleep', 'sleep 600 | cat'],
  ['a named pipe', 'cat', 'mkfifo p; sleep 600 >p & cat <p; true'],
  ['flock', 'flock', 'flock l sleep 600 & until ! flock -n l true; do :; done; flock l true'],
  ['top -b', 'top', 'top -b -d 600; true'],
  ['watch of something slow', 'watch', 'watch -t sleep 600; true'],
  ['curl', 'curl', 'curl -s "http://127.0.0.1:$SILENT"; true'],
  ['wget', 'wget', 'wget -q "http://127.0.0.1:$SILENT"; true'],
  ['git over HTTP', 'git', 'git clone -q "http://127.0.0.1:$SILENT" r; true'],
  ['ssh without an answer', 'ssh', 'ssh -F none -p "$SILENT" 127.0.0.1; true'],
  ['what script(1) runs that sleeps', 'script', `script -qc 'sleep 600' /dev/null; true`],
  [
    'a reader in the background',
    'bash',
    `bash -c 'set -m; python3 -c "import select; select.select([0], [], [])" & wait'; true`,
  ],
];

function pollOf(name: string): string {
  return `import select; p = select.poll(); p.register(${name}, select.POLLIN); p.register(1, select.POLLHUP); p.poll()`;
}

function asyncioReader(): string {
  return 'import asyncio; l = asyncio.new_event_loop(); l.add_reader(0, print); l.run_forever()';
}

function asyncioServer(): string {
  return 'import asyncio; l = asyncio.new_event_loop(); l.run_until_complete(asyncio.start_server(print, "127.0.0.1", 0)); l.run_forever()';
}

function threadReader(): string {
  return 'import os, threading; t = threading.Thread(target=lambda: os.read(0, 1)); t.start(); t.join()';
}

function selectBoth(): string {
  return 'import select, socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); select.select([0, s], [], [])';
}

function nodeReadsAndServes(): string {
  return 'require("http").createServer().listen(0, "127.0.0.1"); process.stdin.resume()';
}

function selfSigned(): string {
  return 'openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -subj /CN=x 2>/dev/null';
}

let directory: string;
let silent: Server;
const sockets = new Set<Socket>();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-waits-'));
  silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A shell on a terminal of its own, which is the leader of a session and runs one command. */
class Started implements Disposable {
  readonly #terminal: IPty & { readonly _pty?: string };
  #output = '';

  constructor(command: string) {
    const cwd = mkdtempSync(join(directory, 'd'));
    const { port } = silent.address() as { port: number };
    // The start files of a user could print, ask, or start others.
    const env = {
      ...process.env,
      HOME: cwd,
      TERM: 'xterm',
      SILENT: String(port),
      GIT_AUTHOR_NAME: 'a',
      GIT_COMMITTER_NAME: 'a',
      EMAIL: 'a@b.c',
    };
    writeFileSync(join(cwd, 'f'), '');
    this.#terminal = spawn('sh', ['-c', command], { cwd, env });
    this.#terminal.onData((data) => (this.#output += data));
  }

  get output(): string {
    return this.#output;
  }

  get reader(): TerminalReader | undefined {
    return this.readerWith();
  }

  /** The reader, of programs that others have started too. */
  readerWith(outside?: () => readonly number[]): TerminalReader | undefined {
    return findTerminalReader(this.#terminal.pid, this.#terminal._pty ?? '', outside);
  }

  get tree(): ProcessEntry[] {
    const below = (pid: number): ProcessEntry[] => childrenOf(pid).flatMap((child) => [child, ...below(child.pid)]);
    const shell = read(this.#terminal.pid);
    return shell ? [shell, ...below(shell.pid)] : [];
  }

  /** Waits until all processes are at the same point for a while, a certain program among them. */
  async rests(program: string): Promise<void> {
    let before = '';
    for (let looks = 0; looks < LOOKS_AT_REST; looks += 1) {
      const { tree } = this;
      const now = tree.map(({ pid }) => readProc(pid, 'syscall')).join('');
      const isThere = tree.some(({ name }) => name === program || name === 'MainThread');
      if (!isThere || now.includes('running') || now !== before) looks = 0;
      before = now;
      await sleep(POLL_MS);
    }
  }

  [Symbol.dispose](): void {
    for (const { pid } of this.tree.toReversed()) sendSignal(pid, 'SIGKILL');
  }
}

const installed = new Map<string, boolean>();
function isMissing(program: string): boolean {
  if (!installed.has(program)) {
    installed.set(program, spawnSync('sh', ['-c', 'command -v "$0"', program]).status === 0);
  }
  return installed.get(program) !== true;
}

describe('a program that waits for its terminal', () => {
  it.for(WAITING)('%s', async ([, program, command, kind = 'only'], { skip }) => {
    skip(isMissing(program), `${program} is not installed`);
    using started = new Started(command);
    await vi.waitFor(
      () => {
        expect(started.reader?.kind, started.output).toBe(kind);
      },
      { timeout: 30_000, interval: POLL_MS },
    );
  });
});

it.skipIf(process.getuid?.() === 0)('a program of another user may wait', async () => {
  using started = new Started('su root; true');
  await vi.waitFor(() => expect(started.reader?.kind, started.output).toBe('hidden'), {
    timeout: 30_000,
    interval: POLL_MS,
  });
});

describe('a program that waits for something else', () => {
  it.for(NOT_WAITING)('%s', async ([, program, command], { skip }) => {
    skip(isMissing(program), `${program} is not installed`);
    using started = new Started(command);
    await started.rests(program);
    // Agents show what they wait for to root alone.
    const isShown = started.tree.every(({ pid }) => readProc(pid, 'syscall') !== undefined);
    expect(isShown ? [undefined] : [undefined, 'hidden'], started.output).toContain(started.reader?.kind);
  });
});

/** Opens the terminal whose path it gets over a unix socket, and reads it: as the agent of gpg(1) does by pinentry(1). */
const AGENT = `import os, socket
s = socket.socket(socket.AF_UNIX); s.bind("agent"); s.listen()
os.setsid() if os.fork() == 0 else os._exit(0)
c = s.accept()[0]
os.read(os.open(c.recv(99).decode(), os.O_RDWR | os.O_NOCTTY), 1)`;
const ASKS_AGENT = `import os, socket
s = socket.socket(socket.AF_UNIX); s.connect("agent"); s.send(os.ttyname(0).encode()); s.recv(1)`;

it('a program that others have started reads the terminal for one that waits for it', async () => {
  using started = new Started(`python3 -c '${AGENT}' </dev/null >/dev/null 2>&1; python3 -c '${ASKS_AGENT}'; true`);
  const { pids } = linux.processes;
  await vi.waitFor(() => expect(started.readerWith(pids)?.kind, started.output).toBe('only'), {
    timeout: 30_000,
    interval: POLL_MS,
  });
  const agent = started.readerWith(pids)?.pid ?? 0;
  expect(started.reader).toBeUndefined();
  expect(started.tree.map(({ pid }) => pid)).not.toContain(agent);
  expect(started.readerWith(() => [agent])).toMatchObject({ pid: agent, kind: 'only' });
  sendSignal(agent, 'SIGKILL');
});
