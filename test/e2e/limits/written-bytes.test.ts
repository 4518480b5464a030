import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { MB } from '../../../src/core/limits.js';
import { useDaemon } from '../../support/daemon-and-client.js';
import type { TestDaemon } from '../../support/daemon.js';
import { MECHANISMS } from '../../support/machine/limit-mechanisms.js';
import { eventually } from '../../support/measure.js';
import { rounds } from '../../support/rounds.js';
import type { WireClient } from '../../support/wire.js';

/** Writes 8 MB in a few milliseconds: sooner than anybody looks, as a rule. */
const QUICK = 'dd if=/dev/zero of=quick bs=8M count=1 status=none';
/** As often as to meet commands that end before the first look, and such that end after it. */
const TIMES = rounds(8, 4);

/** No more than QUICK has written; a new file takes a block of its directory. Less, or null, where samples came too early. */
function expectNoMore(bytes: number | null): void {
  expect(bytes ?? 0).toBeLessThan(8.1 * MB);
}

describe.each(MECHANISMS)('bytes written by commands that end soon, with $title', ({ name, isUsable }) => {
  describe.skipIf(!isUsable)('a daemon', () => {
    let daemon: TestDaemon;
    let client: WireClient;
    useDaemon((started) => ({ daemon, client } = started), { settings: { adapter: { limit_mechanism: name } } });

    /** It was ended for the limit, or its result has a warning that tells of it. */
    function expectTold(result: Awaited<ReturnType<WireClient['run']>>): void {
      expect(result.resource_usage.written_bytes).toBeGreaterThan(4 * MB);
      if (result.killed_by === 'disk') expect(result.limit).toMatchObject({ resource: 'disk_mb', limit: 4 });
      else {
        const [{ code, message } = { code: '', message: '' }] = result.warnings;
        expect([code, result.exit_code]).toEqual(['LIMIT_EXCEEDED', 0]);
        expect(message).toMatch(/disk_mb was 8, and the limit is 4\./);
      }
    }

    it('a command in a session that has exceeded a limit by its end says so, and the next one nothing', async () => {
      const id = await client.openSession({ limits: { disk_mb: 4 } });
      for (let time = 0; time < TIMES; time += 1) {
        expectTold(await client.run(QUICK, id));
        expect(await client.run('true', id)).toMatchObject({ killed_by: null, warnings: [] });
      }
      await client.request('close_session', { session_id: id });
    });

    it('the same for a limit of one command', async () => {
      const id = await client.openSession({ limits: { disk_mb: 100 } });
      expectTold(await client.run(QUICK, id, { limits: { disk_mb: 4 } }));
      expect(await client.run(QUICK, id)).toMatchObject({ killed_by: null, warnings: [] });
      await client.request('close_session', { session_id: id });
    });

    it.each([
      ['text', QUICK, undefined],
      ['a program', 'dd', ['if=/dev/zero', 'of=quick', 'bs=8M', 'count=1', 'status=none']],
    ])('a command without a session, %s: what was sampled, and an exceeded limit is told', async (_, command, args) => {
      for (let time = 0; time < TIMES; time += 1) {
        const limited = await client.run(command, undefined, { args, limits: { disk_mb: 4 } });
        expectNoMore(limited.resource_usage.written_bytes);
        if ((limited.resource_usage.written_bytes ?? 0) > 4 * MB) expectTold(limited);
        else expect(limited).toMatchObject({ killed_by: null, exit_code: 0, warnings: [] });
        expectNoMore((await client.run(command, undefined, { args })).resource_usage.written_bytes);
      }
    });

    it.each([
      ['text', 'while head -c 1M /dev/zero; do sleep 0.01; done >endless', undefined],
      ['a program', 'dd', ['if=/dev/zero', 'of=endless', 'bs=64k', 'status=none']],
    ])('a command without a session that goes on writing, %s: ended at its limit', async (_, command, args) => {
      const result = await client.run(command, undefined, { args, limits: { disk_mb: 40 } });
      expect(result).toMatchObject({ killed_by: 'disk', limit: { resource: 'disk_mb', limit: 40 } });
      expect(result.resource_usage.written_bytes).toBeGreaterThan(40 * MB);
      expect((await client.run('rm endless')).exit_code).toBe(0);
    });

    it('of several at the same time none is told what another has written', async () => {
      const commands = Array.from({ length: TIMES }, (_, number) =>
        number % 2 === 0 ? QUICK.replace('quick', `q${number}`) : 'true',
      );
      const results = await Promise.all(commands.map((command) => client.run(command)));
      for (const [number, { resource_usage: usage }] of results.entries()) {
        if (number % 2 !== 0) expect([null, 0]).toContain(usage.written_bytes);
        else expectNoMore(usage.written_bytes);
      }
    });

    it('what a command that has ended at once has left in the background is watched', async () => {
      const id = await client.openSession({ limits: { disk_mb: 20 } });
      const file = join(daemon.workspace, 'left');
      const left = `(setsid sh -c 'while head -c 1M /dev/zero; do sleep 0.02; done' >left 2>/dev/null </dev/null &)`;
      await client.run(left, id);
      await client.event('resource_warning', (event) => event.session_id === id && event.level === 'exceeded');
      await eventually(async () => {
        const { warnings } = await client.run('true', id);
        expect(warnings).toEqual([expect.objectContaining({ code: 'LIMIT_EXCEEDED' })]);
      });
      expect(existsSync(file) && statSync(file).size).toBeLessThan(84 * MB);
      await client.request('close_session', { session_id: id });
    });
  });
});
