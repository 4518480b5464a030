import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { MB } from '../../../src/core/limits.js';
import { useDaemon } from '../../support/daemon-and-client.js';
import type { TestDaemon } from '../../support/daemon.js';
import { MECHANISMS } from '../../support/machine/limit-mechanisms.js';
import { eventually, timed } from '../../support/measure.js';
import { instanceOf, taggedProcesses } from '../../support/processes.js';
import type { WireClient } from '../../support/wire.js';

/** A program that holds so many MiB. */
const hold = (mib: number) => `python3 -c 'import time; a = bytearray(${mib} * 2**20); time.sleep(300)'`;

/** What the largest of the commands would take, with its interpreter: the most that a late sample can find. */
const MOST_WANTED_MB = 290;
/** A disk limit, in MB. */
const DISK_MB = 40;
/** How far it may be exceeded, in MB: what a program can write between two samples. */
const DISK_OVERSHOOT_MB = 64;

/** Writes about 100 MB in a second: a busy machine may keep the daemon waiting for some tenths of one. */
const WRITER = 'while head -c 1M /dev/zero; do sleep 0.01; done';

describe.each(MECHANISMS)('limits kept by $title', ({ name: mechanism, isUsable }) => {
  describe.skipIf(!isUsable)('a daemon', () => {
    let daemon: TestDaemon;
    let client: WireClient;
    useDaemon((started) => ({ daemon, client } = started), {
      settings: { adapter: { limit_mechanism: mechanism, cpu_window: 1 } },
    });

    const isEnforced = async () => (await client.request('shell_metadata', {})).resource_limits.enforced;

    /** The session is as it was but for the command, and nothing of that is left. */
    async function expectUnharmed(id: string, mark: string): Promise<void> {
      expect(await client.run('echo "$KEPT in $PWD"', id)).toMatchObject({
        stdout: 'yes in /\n',
        session_state: 'alive',
        killed_by: null,
        limit: null,
      });
      expect(taggedProcesses(instanceOf(daemon.pid)).filter(({ command }) => command.includes(mark))).toEqual([]);
      await client.request('close_session', { session_id: id });
    }

    async function openWith(limits: Record<string, number>): Promise<string> {
      const id = await client.openSession({ limits });
      await client.run('cd /; KEPT=yes', id);
      return id;
    }

    it('tells by what limits are kept', async () => {
      const { resource_limits: limits } = await client.request('shell_metadata', {});
      expect(limits).toMatchObject({ mechanism, rejected: [], memory_mb: null });
    });

    it.each([
      ['at once', hold(250)],
      ['slowly', `python3 -c 'import time; a = []\nwhile True: a.append(bytearray(2**20)); time.sleep(0.005)'`],
      ['in many processes', `for i in $(seq 12); do ${hold(20)} & done; wait`],
    ])('F14: memory taken %s: killed, and the session goes on', async (_, command) => {
      const id = await openWith({ memory_mb: 128 });
      const sibling = await client.openSession();
      const result = await client.run(command, id);
      expect(result).toMatchObject({
        status: 'killed',
        killed_by: 'memory',
        session_state: 'alive',
        limit: { resource: 'memory_mb', limit: 128 },
      });
      const peak = (result.resource_usage.peak_memory_bytes ?? 0) / MB;
      expect(peak).toBeGreaterThan(60);
      // A sampler may come late, but not later than the whole command.
      expect(peak).toBeLessThanOrEqual((await isEnforced()) ? 128 : MOST_WANTED_MB);
      expect(await client.run('echo untouched', sibling)).toMatchObject({ stdout: 'untouched\n' });
      await client.request('close_session', { session_id: sibling });
      await expectUnharmed(id, 'bytearray');
    });

    it.each([
      ['one file', `${WRITER} > f1`],
      ['three files', `${WRITER} > f1 & ${WRITER} > f2 & ${WRITER} > f3 & wait`],
      ['a file that was deleted', `exec 9>f1; rm f1; ${WRITER} >&9`],
    ])('F16: a disk filled by %s: stopped at the limit', async (_, command) => {
      const id = await openWith({ disk_mb: DISK_MB });
      const files = ['f1', 'f2', 'f3'].map((name) => join(daemon.workspace, name));
      const result = await client.run(`(cd '${daemon.workspace}'; ${command})`, id);
      expect(result).toMatchObject({
        status: 'killed',
        killed_by: 'disk',
        limit: { resource: 'disk_mb', limit: DISK_MB },
      });
      const written = (result.resource_usage.written_bytes ?? 0) / MB;
      expect(written).toBeGreaterThan(DISK_MB);
      expect(written).toBeLessThan(DISK_MB + DISK_OVERSHOOT_MB);
      const size = files.reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0);
      expect(size / MB).toBeLessThan(DISK_MB + DISK_OVERSHOOT_MB);
      await client.run(`rm -f ${files.join(' ')}`, id);
      await expectUnharmed(id, 'head -c');
    });

    it('F16: a sparse file is not stopped', async () => {
      const id = await openWith({ disk_mb: DISK_MB });
      const command = `truncate -s 3G '${daemon.workspace}/sparse'; sleep 0.3; rm '${daemon.workspace}/sparse'`;
      expect(await client.run(command, id)).toMatchObject({ exit_code: 0, killed_by: null });
      await expectUnharmed(id, 'truncate');
    });

    it('too many processes', async () => {
      const id = await openWith({ processes: 30 });
      const result = await client.run('for i in $(seq 60); do sleep 300 & done 2>/dev/null; wait', id);
      expect(result).toMatchObject({ status: 'killed', killed_by: 'processes', limit: { resource: 'processes' } });
      expect(result.limit?.killed_pids.length).toBeGreaterThan(20);
      const left = result.limit?.killed_pids.map((pid) => `kill -0 ${pid} && echo ${pid}`).join('\n') ?? '';
      expect(await client.run(left, id)).toMatchObject({ stdout: '' });
      await expectUnharmed(id, 'sleep 300');
    });

    it('too much CPU time', async () => {
      const id = await openWith({ cpu_seconds: 0.2 });
      const result = await client.run('sh -c "while :; do :; done"', id);
      expect(result).toMatchObject({
        status: 'killed',
        killed_by: 'cpu',
        limit: { resource: 'cpu_seconds', limit: 0.2 },
      });
      expect(result.resource_usage.cpu_ms).toBeGreaterThanOrEqual(200);
      await expectUnharmed(id, 'while');
    });

    it('too much CPU over the window; a shorter burst and a long sleep are let go', async () => {
      // Low enough for what a busy machine leaves to one loop of many.
      const id = await openWith({ cpu_percent: 15 });
      expect(await client.run('timeout 0.05 sh -c "while :; do :; done"; sleep 1.5', id)).toMatchObject({
        exit_code: 0,
      });
      const { ms, value } = await timed(() => client.run('while :; do :; done', id));
      expect(value).toMatchObject({
        status: 'killed',
        killed_by: 'cpu',
        limit: { resource: 'cpu_percent', limit: 15 },
      });
      // The window may have begun while the command before slept.
      expect(ms).toBeGreaterThan(100);
      await expectUnharmed(id, 'while');
    });

    it('limits of one command, which do not outlive it', async () => {
      const id = await openWith({ memory_mb: 400 });
      const result = await client.run(hold(200), id, { limits: { memory_mb: 64 } });
      expect(result).toMatchObject({ killed_by: 'memory', limit: { limit: 64 } });
      expect(await client.run(`python3 -c 'bytearray(200 * 2**20)'`, id)).toMatchObject({ exit_code: 0 });
      await expectUnharmed(id, 'bytearray');
    });

    it('a command without a session', async () => {
      for (const args of [undefined, ['-c', 'import time; a = bytearray(250 * 2**20); time.sleep(300)']]) {
        const result = await client.run(args ? 'python3' : hold(250), undefined, { args, limits: { memory_mb: 100 } });
        expect(result).toMatchObject({ status: 'killed', killed_by: 'memory', session_state: null, exit_code: 137 });
      }
    });

    it('background processes are ended, and the next result tells it', async () => {
      const id = await openWith({ memory_mb: 100 });
      await client.run(`sleep 0.05; ${hold(250)} & sleep 300 & :`, id);
      await client.event('resource_warning', (warning) => warning.session_id === id && warning.level === 'exceeded');
      const next = await eventually(async () => {
        const result = await client.run('jobs -l | grep -c Running', id);
        expect(result.warnings.map(({ code }) => code)).toContain('LIMIT_EXCEEDED');
        return result;
      });
      expect(next).toMatchObject({ session_state: 'alive', killed_by: null });
      await expectUnharmed(id, 'bytearray');
    });

    it('the shell itself: replaced, and the session goes on', async () => {
      const id = await openWith({ memory_mb: 100 });
      const command = 'while :; do x="$x$x$(printf %1000000s)"; done';
      const result = await client.run(command, id);
      expect(result).toMatchObject({ status: 'killed', killed_by: 'memory' });
      const next = () => client.run('echo "$PWD"', id);
      const first = await next();
      // What the kernel has killed for the limit may be a part of the command: then the next one is met.
      expect(first.killed_by === null ? first : await next()).toMatchObject({ stdout: '/\n' });
      await client.request('close_session', { session_id: id });
    });

    // The kernel lets no shell get there.
    it.skipIf(mechanism.startsWith('cgroup'))(
      'a shell that holds what its command was ended for does not cost the next one',
      async () => {
        const id = await openWith({ memory_mb: 100 });
        const result = await client.run('x=$(printf %130000000s); sleep 300', id);
        expect(result).toMatchObject({ status: 'killed', killed_by: 'memory' });
        expect(await client.run('echo ok', id)).toMatchObject({ stdout: 'ok\n', killed_by: null });
        await client.request('close_session', { session_id: id });
      },
    );

    it('a warning comes before the end, with one result', async () => {
      const id = await openWith({ memory_mb: 100 });
      const warned = () => client.all('resource_warning').filter((event) => event.session_id === id);
      const held = `python3 -c 'import time; a = bytearray(80 * 2**20); time.sleep(300)'`;
      const { command_id: near } = await client.run(held, id, { background: true });
      await client.until(() => warned()[0]);
      await client.request('signal_command', { command_id: near, signal: 'SIGKILL' });
      await client.event('command_finished', (event) => event.command_id === near);
      expect(warned().map(({ level, resource }) => [level, resource])).toEqual([['warning', 'memory_mb']]);
      const command_id = `once-${randomUUID()}`;
      await client.run(hold(300), id, { stream: true, command_id });
      expect(warned().map(({ level }) => level)).toContain('exceeded');
      const ends = client.all('command_finished').filter((event) => event.command_id === command_id);
      expect(ends).toHaveLength(1);
      expect(ends[0]).toMatchObject({ killed_by: 'memory', limit: { resource: 'memory_mb' } });
      await client.request('close_session', { session_id: id });
    });

    it('warns once of a command, also while something from before it is watched', async () => {
      const id = await openWith({ processes: 10 });
      await client.run('sleep 20 &', id);
      for (let round = 0; round < 3; round += 1) {
        const command_id = `again-${randomUUID()}`;
        await client.run('for i in 1 2 3 4 5 6 7; do sleep 0.4 & done; wait %2 %3 %4 %5 %6 %7 %8', id, { command_id });
        const warned = client.all('resource_warning').filter((event) => event.command_id === command_id);
        expect(warned).toHaveLength(1);
      }
      await client.request('close_session', { session_id: id });
    });

    it('tells of a warning what is near which limit, and whose', async () => {
      const id = await openWith({ processes: 10 });
      const command_id = `near-${randomUUID()}`;
      await client.run('for i in 1 2 3 4 5 6 7 8; do sleep 0.5 & done; wait', id, { command_id });
      const warned = client.all('resource_warning').filter((event) => event.session_id === id);
      expect(warned).toEqual([
        {
          session_id: id,
          command_id,
          level: 'warning',
          resource: 'processes',
          limit: 10,
          observed: expect.any(Number) as number,
        },
      ]);
      expect(warned[0]?.observed).toBeGreaterThanOrEqual(8);
      await expectUnharmed(id, 'sleep 0.5');
    });

    // Where the kernel bounds memory, it has always ended something in time.
    it.skipIf(mechanism === 'cgroup1')('a session that is too much by itself is closed, and told why', async () => {
      const id = await client.openSession({ limits: { memory_mb: 0.2 } });
      const result = await client.run('sleep 300', id);
      expect(result).toMatchObject({ status: 'killed', exit_code: 137, killed_by: 'memory' });
      const closed = await client.event('session_closed', ({ session_id }) => session_id === id);
      const { observed = 0 } = closed.limit ?? {};
      expect(closed).toEqual({
        session_id: id,
        reason: 'limit',
        detail: 'it exceeded its limit on memory_mb, 0.2, though all in it was ended',
        killed_by: 'memory',
        limit: { resource: 'memory_mb', limit: 0.2, observed, peak: observed, killed_pids: [expect.any(Number)] },
      });
      expect(observed).toBeGreaterThan(0.2);
      expect(taggedProcesses(instanceOf(daemon.pid)).filter(({ command }) => command.includes('sleep 300'))).toEqual(
        [],
      );
      const { error } = await client.run('echo', id);
      expect(error).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { reason: 'limit' } });
    });

    it('shows what a session uses to who asks for it, and no longer', async () => {
      const id = await client.openSession();
      await client.request('watch_resources', { session_id: id, interval_ms: 50 });
      const seen = () => client.all('resource_usage').filter((event) => event.session_id === id);
      await client.run(`python3 -c 'import time; a = bytearray(40 * 2**20); time.sleep(0.7)'`, id);
      expect(seen().length).toBeGreaterThan(3);
      expect(Math.max(...seen().map(({ memory_bytes: bytes }) => bytes))).toBeGreaterThan(40 * MB);
      await client.request('watch_resources', { session_id: id, interval_ms: 0 });
      const before = seen().length;
      await client.run('sleep 0.3', id);
      expect(seen()).toHaveLength(before);
      await client.request('close_session', { session_id: id });
    });
  });
});
