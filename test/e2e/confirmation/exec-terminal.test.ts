import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from '../cli/in-process.js';
import { CliTerminal, urlVariable } from '../cli/support.js';

let daemon: TestDaemon;
let watcher: WireClient;
let operatorToken: string;
beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: { confirmation: { mode: 'self', checkpoint: false, classes: { privilege: 'operator' } } },
  });
  watcher = await WireClient.connect(daemon.url);
  operatorToken = daemon.createToken('operator', 'olga');
});
afterAll(async () => {
  await watcher[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

const options = (more: object = {}) => ({ env: urlVariable(daemon), ...more });
const inWorkspace = (name: string) => join(daemon.workspace, name);
const waiting = async () => (await watcher.request('list_confirmations')).confirmations;

describe('exec at a terminal, of what this client has to confirm', () => {
  it('asks with all that it is about, runs it after a yes, and passes output and exit code on', async () => {
    writeFileSync(inWorkspace('note'), '');
    const command = 'echo before; rm note; echo err >&2; exit 5';
    await using terminal = new CliTerminal(['exec', command], options());
    await terminal.until(/Confirm this command \(destructive\), requested by local; \d+s left/);
    await terminal.until(
      / - rm deletes .*\/note\r\n {2}in .*workspace\r\n {2}\| echo before; rm note; echo err >&2; exit 5\r\n/,
    );
    await terminal.until(/the part to confirm: rm note \(destructive\)\r\n[^]*run it\? \[y\/N\]/);
    expect(terminal.output).not.toContain('before\r\n');
    terminal.type('y it is only a note\r');
    expect(await terminal.ended).toBe(5);
    // Two streams, which come in any order.
    expect(terminal.output).toContain('before\r\n');
    expect(terminal.output).toContain('err\r\n');
    expect(existsSync(inWorkspace('note'))).toBe(false);
    expect(await waiting()).toEqual([]);
  });

  it.each([
    ['n', 'n\r'],
    ['an empty line', '\r'],
    ['another word', 'yesterday\r'],
    ['the end of input', '\x04'],
  ])('does not run it after %s', async (_what, keys) => {
    writeFileSync(inWorkspace('kept'), '');
    await using terminal = new CliTerminal(['exec', 'rm kept'], options());
    await terminal.until(/run it\?/);
    terminal.type(keys);
    await terminal.until(/not run: you have refused it/);
    expect(await terminal.ended).toBe(126);
    expect(existsSync(inWorkspace('kept'))).toBe(true);
    expect(await waiting()).toEqual([]);
  });

  it('is left by Ctrl-C, which takes the question back', async () => {
    await using terminal = new CliTerminal(['exec', 'rm none'], options());
    await terminal.until(/run it\?/);
    terminal.type('\x03');
    expect(await terminal.ended).toBe(130);
    expect(await waiting()).toEqual([]);
  });

  it('goes on when it was confirmed elsewhere meanwhile', async () => {
    await using terminal = new CliTerminal(['exec', 'rm -f none; seq 3'], options());
    await terminal.until(/run it\?/);
    const [asked] = await waiting();
    const { code, stdout } = await callCli(['confirm', asked!.confirmation_id, '--approve', '-j', 'a test'], options());
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1\n2\n3\n' });
    await terminal.until(/1\r\n2\r\n3\r\n/);
    expect(await terminal.ended).toBe(0);
  });

  it('works in a session, and with a terminal for the command', async () => {
    const id = await watcher.openSession();
    await using terminal = new CliTerminal(['exec', '-s', id, 'rm -f none; cd /usr'], options());
    await terminal.until(/run it\?/);
    terminal.type('y\r');
    expect(await terminal.ended).toBe(0);
    expect((await watcher.request('get_session', { session_id: id })).working_directory).toBe('/usr');
    await using withTerminal = new CliTerminal(
      ['exec', '-t', 'rm -f none; read -p "name? " x; echo "hello $x"'],
      options(),
    );
    await withTerminal.until(/run it\?/);
    withTerminal.type('yes\r');
    await withTerminal.until(/name\? /);
    withTerminal.type('Ada\r');
    await withTerminal.until(/hello Ada\r\n/);
    expect(await withTerminal.ended).toBe(0);
  });

  it('asks nobody with --json or -n, or without a terminal', async () => {
    for (const args of [['--json'], ['-n']]) {
      await using terminal = new CliTerminal(['exec', ...args, 'rm none'], options());
      expect(await terminal.ended).toBe(126);
      expect(terminal.output).not.toContain('run it?');
    }
    const { code, stderr } = await callCli(['exec', 'rm none'], options());
    expect({ code, stderr }).toEqual({ code: 126, stderr: expect.stringContaining('Confirm it:') as string });
  });

  it('cannot be drawn over by the command, on a narrow terminal without colours too', async () => {
    const narrow = { cols: 20, rows: 5, env: { ...options().env, NO_COLOR: '1' } };
    await using terminal = new CliTerminal(['exec', 'rm -f a\x1b[2J\u202Eb'], narrow);
    await terminal.until(/run it\? /);
    expect(terminal.output).toContain('a\\e[2J\ufffdb');
    expect(terminal.output).not.toContain('\x1b');
    terminal.type('n\r');
    expect(await terminal.ended).toBe(126);
  });
});

describe('exec at a terminal, of what an operator has to confirm', () => {
  it.each([
    ['', []],
    [' with a terminal for the command', ['-t']],
  ])('says who decides, and waits%s', async (_what, args) => {
    await using operator = await WireClient.connect(daemon.url, ['websocket'], { token: operatorToken });
    const command = `sudo -n true 2>/dev/null; echo waited${args.length}`;
    await using terminal = new CliTerminal(['exec', ...args, command], options());
    await terminal.until(/waiting for an operator to confirm the command \(privilege\); Ctrl-C cancels/);
    await terminal.until(/sudo acts as another user/);
    const { confirmation_id } = await operator.event('confirmation_required', (event) => event.command === command);
    await operator.request('confirm_command', { confirmation_id, decision: 'approve' });
    await terminal.until(/waited\d\r\n/);
    expect(await terminal.ended).toBe(0);
  });
});
