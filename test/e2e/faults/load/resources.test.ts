import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../../support/daemon.js';
import { eventually, settled } from '../../../support/measure.js';
import { canLimitPids, PidsLimit } from '../../../support/machine/pids-limit.js';
import {
  descendantsOf,
  descriptorCount,
  highestDescriptor,
  instanceOf,
  taggedProcesses,
  useUpDescriptors,
} from '../../../support/processes.js';
import { describeRootIf } from '../../../support/root.js';
import { canMount, Tmpfs } from '../../../support/machine/tmpfs.js';
import { WireClient } from '../../../support/wire.js';

const describeFull = describeRootIf(canMount());

/** Fills a file system to the last byte. */
function fill(directory: string): string {
  const path = join(directory, 'filler');
  for (const size of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  return path;
}

describeFull('F10: a full disk under the log and the spool', () => {
  it('F10: a full log disk: commands run, one warning, and logging goes on when there is room', async () => {
    using disk = new Tmpfs(20);
    const log = join(disk.path, 'adapter.log');
    const settings = { logging: { log_file_path: log, logging_level: 'debug' } };
    await using daemon = await TestDaemon.start({ settings });
    await using client = await WireClient.connect(daemon.url);
    await client.openSession();
    await eventually(() => {
      expect(readFileSync(log, 'utf8')).toContain('session opened');
    });
    const filler = fill(disk.path);
    const warnings = () => daemon.output.match(/no space left/gi)?.length ?? 0;
    const use = async () => {
      const id = await client.openSession();
      expect(await client.run('echo runs', id)).toMatchObject({ stdout: 'runs\n', exit_code: 0 });
      await client.request('close_session', { session_id: id });
    };
    // The log's last page still takes some lines.
    for (let time = 0; time < 100 && warnings() === 0; time += 1) await use();
    for (let time = 0; time < 10; time += 1) await use();
    expect(warnings()).toBe(1);
    rmSync(filler);
    await client.openSession();
    await eventually(() => {
      expect(readFileSync(log, 'utf8')).toMatch(/can be written again/);
    });
  });

  it('F10: a full spool disk: results are as ever, and say what could not be kept', async () => {
    using disk = new Tmpfs(1);
    await using daemon = await TestDaemon.start({ settings: { adapter: { state_directory: disk.path } } });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    for (const session of [id, undefined]) {
      const result = await client.run('yes 0123456789 | head -c 5000000; echo END', session);
      expect(result).toMatchObject({ exit_code: 0, stdout_bytes: 5_000_004, stdout_truncated: true });
      expect(result.stdout.endsWith('END\n')).toBe(true);
      expect(result.spool_error).toMatch(/no space/i);
      const answer = await client.request('read_output', { command_id: result.command_id, offset: 4_900_000 });
      expect(answer.error?.code).toBe('OUTPUT_EXPIRED');
    }
    expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', session_state: 'alive' });
  });
});

describeFull('F11: a full disk under the workspace', () => {
  it('F11: the command sees ENOSPC, daemon and session go on', async () => {
    using disk = new Tmpfs(1);
    await using daemon = await TestDaemon.start({ settings: { adapter: { workspace_directory: disk.path } } });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    for (const session of [id, undefined]) {
      const result = await client.run('head -c 2000000 /dev/zero > full', session);
      expect(result.exit_code).toBe(1);
      expect(result.stderr).toContain('No space left on device');
    }
    expect(await client.run('rm full; echo more > file && cat file', id)).toMatchObject({ stdout: 'more\n' });
  });
});

describe('F12: no descriptors left', () => {
  /** A session takes about a dozen. */
  const SPARE = 40;
  /** What bash needs for its own numbers. */
  const ENOUGH_FOR_BASH = 110;

  it('F12: open_session is refused with RESOURCE_EXHAUSTED; what is open goes on; closing makes room again', async () => {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    // From now on: to start, the daemon needs more than to run.
    const limit = Math.max(highestDescriptor(daemon.pid), ENOUGH_FOR_BASH) + SPARE;
    execFileSync('prlimit', ['--pid', String(daemon.pid), `--nofile=${limit}:${limit}`]);
    const ids: string[] = [];
    const refusals: unknown[] = [];
    // A shell that was started ahead of need may still be had after the first refusal.
    while (refusals.length < 20) {
      const answer = await client.request('open_session', {});
      if (answer.error) refusals.push(answer.error.code);
      else ids.push(answer.session_id);
    }
    const full = descriptorCount(daemon.pid);
    expect(new Set(refusals)).toEqual(new Set(['RESOURCE_EXHAUSTED']));
    expect(ids.length).toBeGreaterThan(0);
    expect((await client.request('open_session', {})).error?.code).toBe('RESOURCE_EXHAUSTED');
    expect(descriptorCount(daemon.pid)).toBeLessThanOrEqual(full);
    for (const id of ids) expect(await client.run('echo goes on', id)).toMatchObject({ stdout: 'goes on\n' });
    for (const id of ids.slice(0, 2)) await client.request('close_session', { session_id: id });
    const again = await client.openSession();
    expect(await client.run('echo again', again)).toMatchObject({ stdout: 'again\n', exit_code: 0 });
    for (const id of [again, ...ids.slice(2)]) await client.request('close_session', { session_id: id });
    expect(await client.run('echo alone')).toMatchObject({ stdout: 'alone\n', exit_code: 0 });
  });

  it('F12: commands end with an answer though processes cannot be listed, and their session closes', async () => {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    const go = join(daemon.workspace, 'go');
    const id = await client.openSession();
    const untilReleased = `until [ -e ${go} ]; do sleep 0.05; done`;
    const left = `sleep 302 >/dev/null 2>&1 & echo go; ${untilReleased}; echo end`;
    const inSession = client.run(left, id, { stream: true });
    const alone = client.run(left, undefined, { stream: true });
    const ended = client.run('echo go; sleep 303', undefined, { stream: true, timeout_ms: 1000 });
    await eventually(() => {
      expect(client.events.filter(({ name }) => name === 'command_output')).toHaveLength(3);
    });
    useUpDescriptors(daemon.pid);
    writeFileSync(go, '');
    expect(await inSession).toMatchObject({ exit_code: 0, warnings: [{ code: 'PROCESSES_UNKNOWN' }] });
    expect(await alone).toMatchObject({ exit_code: 0, status: 'completed' });
    expect(await ended).toMatchObject({ status: 'timed_out' });
    const closed = client.request('close_session', { session_id: id });
    execFileSync('prlimit', ['--pid', String(daemon.pid), '--nofile=4096:']);
    expect(await closed).not.toHaveProperty('error');
    await eventually(() => {
      expect(taggedProcesses(instanceOf(daemon.pid)).filter(({ command }) => command.startsWith('sleep 30'))).toEqual(
        [],
      );
    });
    expect(await client.run('echo again')).toMatchObject({ stdout: 'again\n', exit_code: 0 });
    expect(daemon.output).not.toContain('an uncaught error');
  });

  it('F12: one-shots run again after the process starter has died while there were none', async () => {
    await using daemon = await TestDaemon.startCold();
    await using client = await WireClient.connect(daemon.url);
    expect(await client.run('echo first')).toMatchObject({ stdout: 'first\n' });
    const starters = () => descendantsOf(daemon.pid).filter(({ command }) => command.includes('starter-main.js'));
    useUpDescriptors(daemon.pid);
    for (const { pid } of starters()) process.kill(pid, 'SIGKILL');
    await eventually(() => {
      expect(daemon.output).toContain('the process starter has died');
    });
    for (const args of [undefined, ['-c', 'exit 0']])
      expect(await client.run(args ? 'sh' : 'true', undefined, { args })).toMatchObject({
        exit_code: 126,
        warnings: [{ code: 'RESOURCE_EXHAUSTED' }],
      });
    execFileSync('prlimit', ['--pid', String(daemon.pid), '--nofile=4096:']);
    expect(await client.run('echo again')).toMatchObject({ stdout: 'again\n', exit_code: 0 });
  });

  it('F12: a limit too low for the shell itself is named', async () => {
    await using daemon = await TestDaemon.start({ settings: { adapter: { prewarm: { sessions: 0 } } } });
    await using client = await WireClient.connect(daemon.url);
    execFileSync('prlimit', ['--pid', String(daemon.pid), '--nofile=90:']);
    const { error } = await client.request('open_session', {});
    expect(error).toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringMatching(/open files|EMFILE/) as string,
    });
    execFileSync('prlimit', ['--pid', String(daemon.pid), '--nofile=4096:']);
    const id = await client.openSession();
    expect(await client.run('echo more', id)).toMatchObject({ stdout: 'more\n' });
  });

  it('F12: 20 sessions are served under `ulimit -n 256`, or refused clearly', async () => {
    await using daemon = await TestDaemon.start({ launcher: ['prlimit', '--nofile=256:256'] });
    await using client = await WireClient.connect(daemon.url);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.request('open_session', {})));
    const refused = answers.flatMap(({ error }) => error?.code ?? []);
    expect(refused.every((code) => code === 'RESOURCE_EXHAUSTED')).toBe(true);
    const open = answers.filter(({ error }) => !error);
    const results = await Promise.all(open.map(({ session_id: id }) => client.run('echo ok', id)));
    expect(results.every(({ stdout }) => stdout === 'ok\n')).toBe(true);
  });
});

// Needs a writable pids controller of cgroup v1.
describeRootIf(canLimitPids())('F13: no processes left', () => {
  it('F13: open_session is refused with RESOURCE_EXHAUSTED; closing a session makes room again', async () => {
    await using group = new PidsLimit();
    await using daemon = await TestDaemon.start({ launcher: group.launcher });
    await using client = await WireClient.connect(daemon.url);
    const ids = [await client.openSession(), await client.openSession(), await client.openSession()];
    await client.run('true');
    await settled(() => group.current);
    group.set(group.current);
    let refusal;
    while (!refusal && ids.length < 20) {
      const answer = await client.request('open_session', {});
      if (answer.error) refusal = answer.error;
      else ids.push(answer.session_id);
    }
    expect(refusal).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    for (const id of ids) expect(await client.run('echo goes on', id)).toMatchObject({ stdout: 'goes on\n' });
    for (const id of ids.slice(0, 2)) await client.request('close_session', { session_id: id });
    const again = await client.openSession();
    expect(await client.run('echo again', again)).toMatchObject({ stdout: 'again\n', exit_code: 0 });
    group.set('max');
    expect(await client.run('ls / | wc -l', ids[2])).toMatchObject({ exit_code: 0, session_state: 'alive' });
  });

  it('F13: a command ends with an answer on the platform posix, where ps cannot be run meanwhile', async () => {
    await using group = new PidsLimit();
    const settings = { adapter: { platform: 'posix', prewarm: { sessions: 0, one_shots: 0 } } } as const;
    await using daemon = await TestDaemon.start({ launcher: group.launcher, settings });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    await client.run('true', id);
    await settled(() => group.current);
    group.set(group.current);
    for (const text of ['one', 'two'])
      expect(await client.run(`echo ${text}`, id)).toMatchObject({
        stdout: `${text}\n`,
        session_state: 'alive',
        warnings: [{ code: 'PROCESSES_UNKNOWN' }],
      });
    group.set('max');
    expect(await client.run('sleep 300 >/dev/null 2>&1 & echo three', id)).toMatchObject({
      background_processes: [{ command: 'sleep 300' }],
    });
    const running = client.run('echo go; sleep 301', id, { timeout_ms: 2000, stream: true });
    await client.event('command_output', ({ data }) => data === 'go\n');
    group.set(group.current);
    expect(await running).toMatchObject({ status: 'timed_out' });
    group.set('max');
  });

  it('F13: a session for which some processes or threads are missing is refused, and the daemon lives on', async () => {
    await using group = new PidsLimit();
    const settings = { adapter: { prewarm: { sessions: 0, one_shots: 0 } } };
    await using daemon = await TestDaemon.start({ launcher: group.launcher, settings });
    await using client = await WireClient.connect(daemon.url);
    const codes = new Set<string | undefined>();
    for (let free = 0; !codes.has(undefined); free += 1) {
      await settled(() => group.current);
      // What ends later makes room: the first time there is none for certain.
      group.set(free === 0 ? 0 : group.current + free);
      const { error, session_id: id } = await client.request('open_session', {});
      codes.add(error?.code);
      group.set('max');
      if (!error) await client.request('close_session', { session_id: id });
    }
    expect(codes).toEqual(new Set(['RESOURCE_EXHAUSTED', undefined]));
    expect(await client.run('echo on')).toMatchObject({ stdout: 'on\n' });
  });

  it('F13: a one-shot that cannot be started says why, and the next one runs', async () => {
    await using group = new PidsLimit();
    const settings = { adapter: { prewarm: { sessions: 0, one_shots: 0 } } };
    await using daemon = await TestDaemon.start({ launcher: group.launcher, settings });
    await using client = await WireClient.connect(daemon.url);
    await client.run('true');
    group.set(0);
    for (const args of [undefined, ['-c', 'exit 0']]) {
      const answer = await client.run(args ? 'sh' : 'true', undefined, { args });
      const codes = [answer.error?.code, ...(answer.error ? [] : answer.warnings.map(({ code }) => code))];
      expect(codes).toContain('RESOURCE_EXHAUSTED');
    }
    group.set('max');
    expect(await client.run('echo runs')).toMatchObject({ stdout: 'runs\n', exit_code: 0 });
    expect(existsSync(daemon.directory)).toBe(true);
  });
});
