import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import type { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import type { WireClient } from '../../support/wire.js';
import { callCli } from './in-process.js';
import { CliProcess, type CliOptions, urlVariable } from './support.js';

let daemon: TestDaemon;
let wire: WireClient;
useDaemon((started) => ({ daemon, client: wire } = started));

const cli = (args: readonly string[], options: CliOptions = {}) =>
  callCli(args, { ...options, env: urlVariable(daemon) });

describe('history', () => {
  it('lists the last commands in aligned columns, the newest first, and those of a session alone', async () => {
    expect((await cli(['history'])).stdout).toBe('No command is known.\n');
    const session = await wire.openSession();
    await wire.run('echo one', session);
    await wire.run('exit 3', undefined, { command_id: 'evil' });
    await wire.run('printf "%s\\n"', undefined, { command_id: 'args', args: [], stdin: '' });
    const { code, stdout } = await cli(['history']);
    expect(code).toBe(0);
    const [head = '', ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^COMMAND +OWNER +AGO +EXIT +TOOK +STDOUT +STDERR +TEXT$/);
    expect(rows).toHaveLength(3);
    expect(rows[1]).toMatch(/^evil +local +\d+s +3 .*exit 3$/);
    const own = JSON.parse((await cli(['history', session, '--json'])).stdout) as { commands: { command: string }[] };
    expect(own.commands).toEqual([expect.objectContaining({ command: 'echo one', exit_code: 0, stdout_bytes: 4 })]);
    expect((await cli(['history', '--limit', '1'])).stdout.trimEnd().split('\n')).toHaveLength(2);
    expect((await cli(['history', '--running'])).stdout).toBe('No command is known.\n');
    expect(await cli(['history', '--limit', '0'])).toMatchObject({ code: 2 });
    await wire.request('close_session', { session_id: session });
  });
});

describe('output', () => {
  it('prints the whole output, byte for byte, parts and lines of it', async () => {
    await wire.run('seq 400000; printf "\\377\\0" >&2', undefined, { command_id: 'much' });
    const output = async (...args: string[]) => (await cli(['output', 'much', ...args])).stdout;
    const whole = Array.from({ length: 400_000 }, (_, index) => `${index + 1}\n`).join('');
    expect(await output()).toBe(whole);
    expect(await output('--lines', '390000')).toBe(whole.slice(0, whole.indexOf('390001\n')));
    expect(await output('--offset', '2', '--bytes', '3')).toBe('2\n3');
    expect(await output('--last', '2')).toBe('399999\n400000\n');
    expect(await output('--last', '3', '--lines', '1')).toBe('399998\n');
    expect(await output('--from-line', '12345', '-n', '2', '--max-line-length', '3')).toBe('123…\n123…\n');
    expect(JSON.parse(await output('--from-line', '7', '-n', '1', '--json'))).toMatchObject({
      data: '7\n',
      from_line: 7,
    });
    expect(await output('--stream', 'stderr', '--json')).toContain('"size": 2');
  });

  it.each([
    [['--from-line', '1', '--last', '1'], 'give no --from-line'],
    [['--bytes', '1', '--lines', '1'], 'give no options about lines'],
    [['--lines', '0'], '--lines'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await cli(['output', 'much', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('an unknown command is an error', async () => {
    expect(await cli(['output', 'none'])).toMatchObject({ code: 1, stderr: expect.stringContaining('none') as string });
  });
});

describe('top', () => {
  it('shows once what runs where the output is no terminal, and JSON', async () => {
    const session = await wire.openSession({ label: 'works' });
    await wire.run('sleep 300', session, { background: true });
    await eventually(async () => {
      const { usage } = await wire.request('get_session', { session_id: session });
      expect(usage?.processes).toBeGreaterThan(1);
    });
    const { code, stdout } = await cli(['top']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^CPU .* memory .* sessions 1 {2}commands 1 /);
    expect(stdout).toMatch(new RegExp(`^${session} +local +works +busy +\\d+ % .*sleep 300$`, 'm'));
    expect(stdout).toMatch(/^COMMAND +OWNER +RUNS +CPU TIME +PEAK MEMORY +OUTPUT +TEXT\n.*sleep 300$/m);
    const { host, sessions, commands } = JSON.parse((await cli(['top', '--once', '--json'])).stdout) as Record<
      string,
      unknown
    >;
    expect(host).toHaveProperty('memory_used_bytes');
    expect(sessions).toEqual([expect.objectContaining({ session_id: session })]);
    expect(commands).toEqual([expect.objectContaining({ command: 'sleep 300', state: 'running' })]);
    await wire.request('close_session', { session_id: session });
  });

  it('goes on with --json until it is ended', async () => {
    await using top = new CliProcess(['top', '--json'], { env: urlVariable(daemon) });
    await top.until('stdout', /\n/);
    const session = await wire.openSession({ label: 'later' });
    await top.until('stdout', /"label":"later"/);
    top.child.kill('SIGINT');
    expect((await top.ended).code).toBe(0);
    await wire.request('close_session', { session_id: session });
  });
});

describe('attach --observe', () => {
  it('shows the newest output, and no command waits for it', async () => {
    const session = await wire.openSession();
    await using viewer = new CliProcess(['attach', session, '--observe'], { env: urlVariable(daemon) });
    await eventually(async () => {
      expect(await wire.request('get_session', { session_id: session })).toMatchObject({
        attached_clients: 1,
        observers: 1,
      });
    });
    await wire.run('echo seen', session);
    await viewer.until('stdout', /^seen\n/);
    await wire.request('close_session', { session_id: session });
    expect((await viewer.ended).code).toBe(0);
  });

  it('takes no input', async () => {
    expect(await cli(['attach', 'session_x', '--observe', '--input'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--observe only looks') as string,
    });
  });
});
