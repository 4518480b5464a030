import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { PEERS } from '../../conformance/peers/adapters.js';
import { installCommand } from '../../conformance/peers/install.js';
import { judge } from '../../conformance/peers/judge.js';
import { namedTraps, requireTrap, whyLeftOut } from '../../conformance/peers/notions.js';
import type { Notion } from '../../conformance/peers/peer.js';
import { OURS, readResults, RUNS } from '../../conformance/peers/results.js';
import { alone, run, runWhile } from '../../conformance/harness/table.js';

const FOLDER = fileURLToPath(new URL('../../conformance/peers/results', import.meta.url));
const ADAPTERS = fileURLToPath(new URL('../../conformance/peers/adapters', import.meta.url));
const ids = (readResults(OURS).traps ?? []).map(({ id }) => id);
const files = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));
/** Peers whose adapter has been run in full. */
const measured = PEERS.filter(({ name }) => files.includes(name));
const names = [OURS, ...measured.map(({ name }) => name)];

describe('the results of conformance', () => {
  test('each file is of a system, and each peer has one adapter of its name', () => {
    expect([...files].sort()).toEqual([...names].sort());
    expect(readdirSync(ADAPTERS).sort()).toEqual(PEERS.map(({ name }) => `${name}.ts`).sort());
  });

  test('trap ids are unique, and those that adapters are told about exist', () => {
    expect(ids.length).toBe(new Set(ids).size);
    for (const id of namedTraps) expect(ids).toContain(id);
  });

  test.each(names)('%s has an outcome for every trap, with what was seen', (name) => {
    const { outcomes, runs, date, machine } = readResults(name);
    expect(Object.keys(outcomes)).toEqual(ids);
    expect({ runs, date, machine }).toEqual({
      runs: RUNS,
      date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
      machine: expect.stringContaining('Node.js') as string,
    });
    for (const { outcome, seen, passed_runs } of Object.values(outcomes)) {
      expect(seen === undefined).toBe(outcome === 'passed');
      expect(passed_runs === undefined).toBe(outcome !== 'unsteady');
    }
  });

  test.each(measured)('$name was measured in the version of its adapter', (peer) => {
    const { version, install } = readResults(peer.name);
    expect({ version, install }).toEqual({ version: peer.version, install: installCommand(peer) });
  });
});

describe('what is applicable', () => {
  const oneShots: ReadonlySet<Notion> = new Set(['one_shot', 'exit_code']);

  test('a trap that rests on a shell that stays is not applicable to one-shots', () => {
    expect(() => {
      requireTrap({ id: 'D7', title: '' }, oneShots);
    }).toThrow('each command has a shell of its own');
    requireTrap({ id: 'D29', title: '' }, oneShots);
  });

  test.each([
    [alone('true'), undefined],
    [run('true', {}, { timeout_ms: 5 }), 'cannot end a command after a given time'],
    [run('true', { error: 'INVALID_REQUEST' }), 'refused by a code of our protocol'],
    [runWhile('read x', (trap) => trap.input('y').then(() => undefined)), 'cannot type into a running command'],
    [runWhile('sleep 9', (trap) => trap.signal('SIGINT').then(() => undefined)), 'cannot interrupt a running command'],
  ])('a step is left out for what the peer lacks: %#', (step, why) => {
    expect(whyLeftOut(step, oneShots)).toBe(why);
  });
});

describe('how an answer of a peer is judged', () => {
  const said = (result: Parameters<typeof judge>[0], step: Parameters<typeof judge>[1]) => () => {
    judge(result, step, 'step');
  };

  test('exactly, where streams and exit code are told', () => {
    expect(said({ stdout: 'a\n', stderr: '', exitCode: 0 }, run('echo a', { stdout: 'a\n' }))).not.toThrow();
    expect(said({ stdout: 'a', stderr: '', exitCode: 0 }, run('echo a', { stdout: 'a\n' }))).toThrow(
      'step: stdout is "a", not "a\\n"',
    );
    expect(said({ stdout: '', stderr: '', exitCode: 1 }, run('true'))).toThrow('exit code');
  });

  test('both streams as one text: every line, in any order; no exit code: none is compared', () => {
    const step = run('x', { stdout: 'o1\no2\n', stderr: 'e1\n', exit_code: 3 });
    expect(said({ stdout: 'o1\ne1\no2\n' }, step)).not.toThrow();
    expect(said({ stdout: 'o1\no2\n' }, step)).toThrow('lines of the output');
  });

  test('any exit code of a command that was ended at its time-out; sizes where they are given', () => {
    expect(said({ stdout: '', stderr: '', exitCode: -1 }, run('x', { status: 'timed_out' }))).not.toThrow();
    expect(said({ stdout: 'xx' }, run('x', { stdout: /x/, stdout_bytes: 3 }))).toThrow('bytes of output');
  });
});
