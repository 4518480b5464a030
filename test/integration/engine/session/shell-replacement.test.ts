import type * as nodePty from 'node-pty';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import type { ShellHarness } from '../../../contract/shells/harness.js';

/** Ignores SIGTERM, so that the end of its shell takes the whole grace. */
const STUBBORN = `sh -c 'trap "" TERM; echo up; while :; do sleep 300; done' &`;

/** Resolves when the exit of the terminal that was opened last has been reported. */
let lastExit: Promise<unknown>;

vi.mock('node-pty', async (importOriginal) => {
  const original = await importOriginal<typeof nodePty>();
  const spawn: typeof nodePty.spawn = (...args) => {
    const terminal = original.spawn(...args);
    lastExit = new Promise((resolve) => terminal.onExit(resolve));
    return terminal;
  };
  return { ...original, spawn };
});

let bench: ShellHarness;

beforeAll(async () => {
  // Files before this one have loaded the modules with the package itself.
  vi.resetModules();
  const harness = await import('../../../contract/shells/harness.js');
  bench = await harness.ShellHarness.start('bash');
});

afterAll(async () => {
  vi.doUnmock('node-pty');
  vi.resetModules();
  await bench[Symbol.asyncDispose]();
  expect(await bench.leftovers()).toEqual({ processes: [], descriptors: 0 });
});

describe('a shell that is replaced', () => {
  it('two resets at once: what comes between them waits for the second', async () => {
    await using session = await bench.openSession();
    const [first, second] = [session.reset(), session.reset()];
    await first;
    const command = session.start('echo a; sleep 0.2; echo b');
    await second;
    expect(await command.result()).toMatchObject({ status: 'completed', stdout: 'a\nb\n', sessionState: 'alive' });
  });

  it('one that is killed while the processes of its predecessor are being ended is replaced too, and told', async () => {
    await using session = await bench.openSession();
    await session.start(STUBBORN).prints('up');
    const first = session.pid;
    expect(await session.run('kill -KILL $$')).toMatchObject({ sessionState: 'restarted', exitCode: 137 });
    while (session.pid === first) await new Promise((resolve) => setImmediate(resolve));
    await session.descriptorsAtRest();
    process.kill(session.pid, 'SIGKILL');
    const next = await session.run('echo on');
    expect(next).toMatchObject({ status: 'completed', stdout: 'on\n', sessionState: 'restarted' });
    expect(next.warnings.map(({ code }) => code)).toContain('SHELL_ENDED');
  });
});

it('a session is refused at once, with what to do, where the driver is not in the installation any more', async () => {
  const shell: { driver: string } = bench.installed.shell;
  const { driver } = shell;
  shell.driver = '/gone/driver.bash';
  try {
    await expect(bench.openSession()).rejects.toMatchObject({
      code: 'SHELL_FAILED',
      message:
        '/gone/driver.bash is missing: the installation has changed since the daemon was started; restart the daemon',
    });
  } finally {
    shell.driver = driver;
  }
});

describe('a program in place of the shell', () => {
  /** Shorter than the time-out of the commands, even with the start of a program. */
  const WEDGE_TIMEOUT_MS = 300;
  const TIMEOUT_MS = 4000;
  const LONG_MS = 60_000;
  const LISTENS = 'import socket, select; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()';

  it.each([
    ['serves HTTP in Python', 'exec python3 -m http.server --bind 127.0.0.1 0'],
    ['serves HTTP in Node.js', `exec node -e 'require("http").createServer().listen(0, "127.0.0.1")'`],
    ['serves and reads commands', `exec python3 -c '${LISTENS}; input()'`],
    ['waits in select for a socket', `exec python3 -c '${LISTENS}; select.select([s], [], [])'`],
    ['waits in poll for nothing', `exec python3 -c 'import select; select.poll().poll()'`],
    ['looks for keys', `exec python3 -c 'import select\nwhile True: select.select([0], [], [], 2)'`],
  ])('runs until its time-out if it %s', async (_title, command) => {
    await using session = await bench.openSession(WEDGE_TIMEOUT_MS);
    const result = await session.run(command, { timeoutMs: TIMEOUT_MS });
    expect(result).toMatchObject({ status: 'timed_out', exitCode: 124, sessionState: 'restarted' });
    expect(result.warnings.map(({ code }) => code)).toEqual(['SHELL_ENDED']);
    expect(await session.run('echo on')).toMatchObject({ stdout: 'on\n', sessionState: 'alive' });
  });

  it('gets what is typed once it reads the terminal, and ends by itself', async () => {
    await using session = await bench.openSession(LONG_MS);
    const running = session.start('exec cat');
    await running.awaitsInput();
    session.type('hi\n', true);
    const { warnings, ...result } = await running.result();
    expect(result).toMatchObject({ stdout: 'hi\n', exitCode: 0, status: 'completed', sessionState: 'restarted' });
    expect(warnings.map(({ code }) => code)).toEqual(['SHELL_ENDED']);
  });

  it('is ended if it reads the terminal and nobody types', async () => {
    await using session = await bench.openSession(WEDGE_TIMEOUT_MS);
    const { warnings, ...result } = await session.run('exec cat');
    expect(result).toMatchObject({ status: 'killed', exitCode: 137, sessionState: 'restarted' });
    expect(warnings.map(({ code }) => code)).toEqual(['SHELL_WEDGED']);
  });
});

describe('a shell that is killed before a session has it', () => {
  /** Kills the next shells when they are ready, and holds them back until their exit has been reported. */
  function killNext(count: number): void {
    let left = count;
    const create = bench.mechanism.createGroup.bind(bench.mechanism);
    vi.spyOn(bench.mechanism, 'createGroup').mockImplementation((...args) => {
      const group = create(...args);
      const begin = group.begin.bind(group);
      group.begin = async (pid, hasEntered) => {
        await begin(pid, hasEntered);
        if ((left -= 1) < 0) return;
        process.kill(pid, 'SIGKILL');
        await lastExit;
      };
      return group;
    });
  }

  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is not used: another one is started', async () => {
    killNext(1);
    await using session = await bench.openSession();
    expect(await session.run('echo on')).toMatchObject({ status: 'completed', stdout: 'on\n', warnings: [] });
  });

  it('fails the opening when the second one is killed too', async () => {
    killNext(2);
    await expect(bench.openSession()).rejects.toThrow(/bash ended as soon as it had come up/);
  });

  it('does not leave a session without an answer when it should have replaced another', async () => {
    await using session = await bench.openSession();
    killNext(1);
    expect(await session.run('kill -KILL $$')).toMatchObject({ sessionState: 'restarted' });
    expect(await session.run('echo on')).toMatchObject({ status: 'completed', stdout: 'on\n' });
  });
});

describe('a command whose pipes are still being made', () => {
  it('can be taken out of the queue, and does not run', async () => {
    await using session = await bench.openSession();
    await session.run('sleep 300 &');
    await session.run('sleep 300 &');
    const command = session.start('touch ran');
    session.cancel(command);
    expect(await command.result()).toMatchObject({ status: 'interrupted', exitCode: 130 });
    expect(await session.run('ls')).toMatchObject({ stdout: '' });
  });
});
