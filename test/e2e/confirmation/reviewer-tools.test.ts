import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect } from 'vitest';

import { MAIN, TestDaemon } from '../../support/daemon.js';
import { daemonTest } from '../../support/daemon-test.js';
import { WireClient } from '../../support/wire.js';
import { expectNothingLeft, sleepers, uniqueSleep } from '../llm/support.js';

/** Where the tools of this file leave what they have found: they run in a directory that is removed. */
const notes = mkdtempSync(join(tmpdir(), 'shell-adapter-reviews-'));
/** The script that confirms, which each test writes. */
const judge = join(notes, 'judge');

/** A daemon whose commands are confirmed by a tool: what the script prints. */
const settingsWith = (reviewer: Record<string, unknown> = {}) => ({
  confirmation: {
    mode: 'llm',
    checkpoint: false,
    reviewer: { provider: 'shell', shell_provider: 'judge', timeout: 5, cache: 0.001, ...reviewer },
  },
  llm: { shell_providers: { judge: { command: 'sh', args: [judge] } } },
});

const it = daemonTest({ settings: settingsWith() });
const start = (reviewer: Record<string, unknown>) => TestDaemon.startCold({ settings: settingsWith(reviewer) });

afterAll(() => {
  rmSync(notes, { recursive: true });
});

const say = (verdict: string) => `cat > ${notes}/asked; echo '{"verdict":"${verdict}","reason":"because"}'`;

describe('a tool of this machine confirms', () => {
  it('by its verdict, shown the command as data', async ({ daemon }) => {
    writeFileSync(judge, say('approve'));
    await using client = await WireClient.connect(daemon.url);
    writeFileSync(join(daemon.workspace, 'kept'), '');
    expect(await client.run('rm kept')).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(existsSync(join(daemon.workspace, 'kept'))).toBe(false);
    expect(await client.event('confirmation_resolved')).toMatchObject({ outcome: 'approved', decided_by: 'judge' });
    expect(readFileSync(join(notes, 'asked'), 'utf8')).toContain('"rm kept"');
  });

  it('in an empty directory, so that no settings in the workspace can steer it', async ({ daemon }) => {
    writeFileSync(judge, `pwd > ${notes}/place; ls -A >> ${notes}/place; ${say('approve')}`);
    await using client = await WireClient.connect(daemon.url);
    writeFileSync(join(daemon.workspace, '.settings'), '');
    expect(await client.run('rm -f none')).toMatchObject({ status: 'completed', exit_code: 0 });
    const [place = '', ...entries] = readFileSync(join(notes, 'place'), 'utf8').trim().split('\n');
    expect([place.startsWith(daemon.workspace), entries, existsSync(place)]).toEqual([false, [], false]);
  });

  it.for([
    ['says no', say('reject'), 'because'],
    ['says something else', 'cat >/dev/null; echo "sure, go ahead"', 'gave no verdict'],
    [
      'says it with more around it',
      'cat >/dev/null; echo "Here: {\\"verdict\\":\\"approve\\",\\"reason\\":\\"x\\"}"',
      'gave no verdict',
    ],
    ['says nothing', 'cat >/dev/null', 'gave no verdict'],
    ['fails', `${say('approve')}; exit 1`, 'gave no verdict'],
    ['is killed', `${say('approve')}; kill -9 $$`, 'gave no verdict'],
    ['says yes and goes on for ever', `${say('approve')}; yes`, 'gave no verdict'],
  ] as const)('not when it %s', async ([, script, why], { daemon }) => {
    writeFileSync(judge, script);
    await using client = await WireClient.connect(daemon.url);
    writeFileSync(join(daemon.workspace, 'kept'), '');
    const { error } = await client.run('rm kept');
    expect(error).toMatchObject({ code: 'COMMAND_DENIED' });
    expect(JSON.stringify(error)).toContain(why);
    expect(existsSync(join(daemon.workspace, 'kept'))).toBe(true);
  });

  it('not when it is not there, or takes too long, and nothing of it stays', async () => {
    const seconds = uniqueSleep(7331);
    writeFileSync(judge, `sleep ${seconds}`);
    await using daemon = await start({ timeout: 0.5 });
    await using client = await WireClient.connect(daemon.url);
    const { error } = await client.run('rm -r nothing');
    expect(JSON.stringify(error)).toContain('has not answered');
    await expect.poll(() => sleepers(seconds)).toEqual([]);
    await using other = await start({ shell_provider: 'nobody' });
    await using second = await WireClient.connect(other.url);
    expect(JSON.stringify((await second.run('rm -r nothing')).error)).toContain('there is no shell provider');
  });

  it('without being confirmed itself, whatever it is', async ({ daemon }) => {
    writeFileSync(judge, `rm -rf none; ${say('approve')}`);
    await using client = await WireClient.connect(daemon.url);
    expect(await client.run('rm -f none')).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(client.all('confirmation_required')).toHaveLength(1);
  });

  it('not when it has commands of its own confirmed by itself, and that comes to an end', async () => {
    const ask = `cd ${notes}; echo x >> runs; ${process.execPath} ${MAIN} exec --url "$(cat url)" 'rm -f none'; ${say('approve')}`;
    writeFileSync(judge, ask);
    await using daemon = await start({ timeout: 3 });
    writeFileSync(join(notes, 'url'), daemon.url);
    await using client = await WireClient.connect(daemon.url);
    expect((await client.run('rm -f none')).error).toMatchObject({ code: 'COMMAND_DENIED' });
    const runs = readFileSync(join(notes, 'runs'), 'utf8').length / 2;
    expect(runs).toBeGreaterThan(1);
    expect(runs).toBeLessThan(10);
    await expectNothingLeft(daemon);
    expect((await client.run('pgrep -cf "exec --ur[l]"')).stdout).toBe('0\n');
  });
});
