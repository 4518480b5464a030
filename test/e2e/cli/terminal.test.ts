import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import type { TestDaemon } from '../../support/daemon.js';
import type { WireClient } from '../../support/wire.js';
import { callCli } from './in-process.js';
import { CliTerminal, urlVariable } from './support.js';

let daemon: TestDaemon;
let wire: WireClient;
/** A command without a terminal and without a time-out has no time to sleep. */
const settings = { adapter: { command_timeout: 0.5, command_max_lifetime: 600 } };
useDaemon((started) => ({ daemon, client: wire } = started), { settings });

const env = () => urlVariable(daemon);
const openSessions = async () => (await wire.request('list_sessions')).sessions.length;

describe('exec --tty', () => {
  it('gives the command a terminal of the size of this one, and what is typed here', async () => {
    await using terminal = new CliTerminal(['exec', '--tty', 'stty size; read -p "name? " x; echo "hello $x"'], {
      env: env(),
      cols: 90,
      rows: 33,
    });
    await terminal.until(/33 90\r\n/);
    await terminal.until(/name\? /);
    terminal.type('Ada\r');
    await terminal.until(/hello Ada\r\n/);
    expect(await terminal.ended).toBe(0);
  });

  it('gives the command the longest time that the daemon allows', async () => {
    expect((await callCli(['exec', 'sleep 1.2; echo late'], { env: env() })).code).toBe(124);
    await using terminal = new CliTerminal(['exec', '--tty', 'sleep 1.2; echo late'], { env: env() });
    await terminal.until(/late/);
    expect(await terminal.ended).toBe(0);
  });

  it('tells the command when the size changes', async () => {
    await using terminal = new CliTerminal(
      ['exec', '--tty', `bash -c 'trap "stty size; exit 9" WINCH; echo ready; while :; do sleep 0.05; done'`],
      {
        env: env(),
      },
    );
    await terminal.until(/ready/);
    terminal.resize(77, 22);
    await terminal.until(/22 77/);
    expect(await terminal.ended).toBe(9);
  });

  it('hands Ctrl-C on as a key', async () => {
    await using terminal = new CliTerminal(
      ['exec', '-t', `bash -c 'trap "echo caught; exit 4" INT; echo ready; sleep 60'`],
      {
        env: env(),
      },
    );
    await terminal.until(/ready/);
    terminal.type('\u0003');
    await terminal.until(/caught/);
    expect(await terminal.ended).toBe(4);
  });

  it('is left by Ctrl-], and its session is closed', async () => {
    const before = await openSessions();
    await using terminal = new CliTerminal(
      ['exec', '-t', 'trap "" INT TERM; echo ready; while :; do sleep 0.1; done'],
      { env: env() },
    );
    await terminal.until(/ready/);
    terminal.type('\u001d');
    expect(await terminal.ended).toBe(130);
    expect(await openSessions()).toBe(before);
  });

  it('runs in a session that is named, and leaves it open', async () => {
    const id = await wire.openSession();
    await using terminal = new CliTerminal(['exec', '-t', '-s', id, 'tty && cd /usr'], { env: env() });
    await terminal.until(/\/dev\/pts\/\d+\r\n/);
    expect(await terminal.ended).toBe(0);
    expect((await wire.request('get_session', { session_id: id })).working_directory).toBe('/usr');
    await wire.request('close_session', { session_id: id });
  });

  it('gives a terminal without one here, and the output comes as it is', async () => {
    const { code, stdout } = await callCli(['exec', '--tty', 'test -t 1 && test -t 2 && echo yes'], { env: env() });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'yes\r\n' });
  });
});

it('exec tells a person when the command waits for input that cannot come', async () => {
  const id = await wire.openSession();
  await using terminal = new CliTerminal(['exec', '-s', id, 'read x; echo "got $x"'], { env: env() });
  await terminal.until(/the command waits for input/);
  await wire.request('send_input', { session_id: id, data: 'this\n' });
  await terminal.until(/got this/);
  expect(await terminal.ended).toBe(0);
  await wire.request('close_session', { session_id: id });
});
