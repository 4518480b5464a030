import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { connect } from '../../../src/client/index.js';
import { isProcess } from '../../../src/engine/platform/choose-platform.js';
import { eventually } from '../../support/measure.js';
import { isRunning } from '../../support/processes.js';
import { runCli } from '../cli/support.js';
import { DetachedDaemon } from './detached-daemon.js';

/** Settings that only a start applies, so that the next daemon has another holder for what is new. */
const CHANGED = { adapter: { kill_grace: 3 } };

it('with other settings, old sessions keep theirs, and the process that holds them ends with the last one', async () => {
  await using detached = await DetachedDaemon.start();
  const { sessionId, checkpointId } = await (async () => {
    await using client = await detached.connect();
    const { checkpoint_id: checkpointId } = await client.request('checkpoint_workspace', {});
    return { sessionId: await client.openSession(), checkpointId };
  })();
  const { holder } = detached;
  await detached.end('SIGTERM');
  await detached.startAgain(CHANGED);
  await using client = await detached.connect();
  const other = await client.openSession();
  expect((await client.run('echo old', sessionId)).stdout).toBe('old\n');
  expect((await client.run('echo new', other)).stdout).toBe('new\n');
  const states = (await client.request('list_nodes')).nodes.map(({ node, state }) => [node, state]);
  expect(states).toEqual([
    ['daemon', 'live'],
    ['holder-1', 'draining'],
    ['holder-2', 'live'],
  ]);
  expect((await client.request('list_sessions')).sessions).toHaveLength(2);
  // What names no session is about the machine, of which there is one.
  expect((await client.request('stat_path', { path: '.' })).error).toBeUndefined();
  await client.request('close_session', { session_id: sessionId });
  await eventually(() => {
    expect(isProcess(holder.pid, holder.identity)).toBe(false);
  });
  await eventually(async () => {
    expect((await client.request('list_nodes')).nodes.map(({ node }) => node)).toEqual(['daemon', 'holder-2']);
  });
  // Checkpoints outlive them both.
  const { checkpoints } = await client.request('list_checkpoints', {});
  expect(checkpoints.map(({ checkpoint_id: id }) => id)).toEqual([checkpointId]);
  expect((await client.request('diff_workspace', { checkpoint_id: checkpointId })).error).toBeUndefined();
});

it('a command that is sent again after an upgrade has run once', async () => {
  await using detached = await DetachedDaemon.start();
  const log = join(detached.directory, 'runs');
  const request = { command: `echo run >> ${log}; sleep 1.5; echo done`, command_id: 'sent-twice' };
  {
    await using client = await detached.connect();
    // The daemon is killed before it answers.
    client.request('execute_command', request).catch(() => undefined);
    await eventually(() => {
      expect(readFileSync(log, 'utf8')).toBe('run\n');
    });
  }
  await detached.end('SIGKILL');
  await detached.startAgain(CHANGED);
  await using client = await detached.connect();
  expect(await client.request('execute_command', request)).toMatchObject({ exit_code: 0, stdout: 'done\n' });
  expect(readFileSync(log, 'utf8')).toBe('run\n');
});

it('restart under load loses no session and no output, and runs nothing twice', async () => {
  await using detached = await DetachedDaemon.start();
  await using client = await connect(detached.url);
  const session = await client.openSession();
  const log = join(detached.directory, 'runs');
  const outputs: string[] = [];
  const stopping = new AbortController();
  const working = (async () => {
    for (let number = 0; !stopping.signal.aborted; number += 1) {
      const { stdout } = await session.execute(`echo ${number} >> ${log}; echo ${number}`);
      outputs.push(stdout);
    }
  })();
  const { pid } = await session.execute('echo $$').then(({ stdout }) => ({ pid: Number(stdout) }));
  for (let restarts = 0; restarts < 2; restarts += 1) {
    const seen = outputs.length;
    const { code, stderr } = await runCli(['restart', '--url', detached.url]);
    expect([code, stderr]).toEqual([0, '']);
    await eventually(() => {
      expect(outputs.length).toBeGreaterThan(seen + 5);
    });
  }
  stopping.abort();
  await working;
  const expected = outputs.map((_, number) => `${number}\n`);
  expect(outputs).toEqual(expected);
  expect(readFileSync(log, 'utf8')).toBe(expected.join(''));
  expect((await session.execute('echo $$')).stdout).toBe(`${pid}\n`);
  expect((await runCli(['stop', '--url', detached.url])).code).toBe(0);
}, 60_000);

it('stop ends the sessions too, also those that a killed daemon has left', async () => {
  await using detached = await DetachedDaemon.start();
  const open = async () => {
    await using client = await detached.connect();
    const sessionId = await client.openSession();
    return { pid: Number((await client.run('echo $$', sessionId)).stdout), holder: detached.holder };
  };
  const first = await open();
  expect(await runCli(['stop', '--url', detached.url])).toMatchObject({ code: 0 });
  expect(isRunning(first.pid)).toBe(false);
  expect(isProcess(first.holder.pid, first.holder.identity)).toBe(false);
  await detached.startAgain();
  const second = await open();
  await detached.end('SIGKILL');
  const { code, stdout } = await runCli(['stop', '--config', join(detached.directory, 'config.yaml')]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^not running: .*; ended the sessions that had outlived it \(1 process\)\n$/),
  ]);
  expect(isRunning(second.pid)).toBe(false);
});

it('a daemon that holds its sessions itself says whom it cannot reach, and stop ends them', async () => {
  await using detached = await DetachedDaemon.start();
  {
    await using client = await detached.connect();
    await client.openSession();
  }
  const { holder } = detached;
  await detached.end('SIGKILL');
  await detached.startAgain({ adapter: { detach: false } });
  expect(detached.daemon.output).toContain('sessions of an earlier daemon cannot be reached without adapter.detach');
  expect((await runCli(['stop', '--url', detached.url])).code).toBe(0);
  expect(isProcess(holder.pid, holder.identity)).toBe(false);
});

it('a reload reaches what holds the sessions', async () => {
  await using detached = await DetachedDaemon.start();
  await using client = await detached.connect();
  const sessionId = await client.openSession();
  const file = join(detached.directory, 'config.yaml');
  const rule = "rules: [{ action: deny, program: touch, reason: 'no files' }]";
  writeFileSync(file, readFileSync(file, 'utf8').replace('mode: off', `mode: self\n  ${rule}`));
  detached.daemon.signal('SIGHUP');
  await eventually(async () => {
    expect((await client.run('touch denied', sessionId)).error?.code).toBe('COMMAND_DENIED');
  });
});
