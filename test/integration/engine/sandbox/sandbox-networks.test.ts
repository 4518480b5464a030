import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, it } from 'vitest';

import { AllowList, type Refusal } from '../../../../src/core/egress.js';
import { NO_METRICS } from '../../../../src/core/metrics.js';
import { Dialer } from '../../../../src/engine/egress/dialer.js';
import { SandboxNetworks } from '../../../../src/engine/sandbox/sandbox-networks.js';
import { findProgram } from '../../../../src/engine/shells/list.js';
import { listChildren } from '../../../../src/engine/platform/linux/process-table.js';
import { canSandbox } from '../../../support/sandbox.js';

const noop = () => undefined;
const log = { debug: noop, info: noop, warn: noop, error: noop };
const path = process.env['PATH'] ?? '';
const programs = { program: findProgram('bwrap', path) ?? '', nsenter: findProgram('nsenter', path) ?? '' };

describe.runIf(canSandbox && programs.nsenter !== '')('the networks of sandboxes', () => {
  const build = (program = programs.program) => {
    const dialer = new Dialer(new AllowList([]));
    const proxy = { dialer, metrics: NO_METRICS, log, maxConnections: 4, idleTimeoutMs: 10_000 };
    return new SandboxNetworks({ ...programs, program }, proxy, {});
  };
  /** Runs a program in a network; the event loop has to go on meanwhile. */
  const run = async (enter: readonly string[], text: string): Promise<string> => {
    const [file = '', ...args] = enter;
    const child = spawn(file, [...args, 'bash', '-c', text], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
    await once(child, 'close');
    return output;
  };
  const ASK = 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT a.test:1 HTTP/1.1\\r\\n\\r\\n" >&3; head -1 <&3';

  it('are apart from the machine and from each other, and tell their refusals to one listener', async () => {
    await using networks = build();
    const [one, other] = await Promise.all([networks.take(), networks.take()]);
    const refused: string[] = [];
    const listener = (name: string) => (refusal: Refusal) => refused.push(`${name} ${refusal.destination}`);
    one.onRefused = listener('one');
    other.onRefused = listener('other');
    expect(await run(one.enter, ASK)).toContain('403');
    expect(refused).toEqual(['one a.test:1']);
    const names = await Promise.all([one, other].map(({ enter }) => run(enter, 'readlink /proc/self/ns/net')));
    const own = spawnSync('readlink', ['/proc/self/ns/net'], { encoding: 'utf8' }).stdout;
    expect(new Set([...names, own]).size).toBe(3);
  });

  it('serve another sandbox when they are given back, without the listener of the first', async () => {
    await using networks = build();
    const first = await networks.take();
    const refused: Refusal[] = [];
    first.onRefused = (refusal) => refused.push(refusal);
    const { enter } = first;
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    const second = await networks.take();
    expect(second.enter).toEqual(enter);
    expect((await networks.take()).enter).not.toEqual(enter);
    expect(await run(second.enter, ASK)).toContain('403');
    expect(refused).toEqual([]);
  });

  it('end with all their processes', async () => {
    const before = listChildren(process.pid).map(({ pid }) => pid);
    const networks = build();
    await networks.take();
    expect(listChildren(process.pid).length).toBe(before.length + 1);
    await networks[Symbol.asyncDispose]();
    expect(listChildren(process.pid).map(({ pid }) => pid)).toEqual(before);
  });

  it('say why one cannot be made', async () => {
    await using networks = build('/bin/false');
    await expect(networks.take()).rejects.toThrow('no network namespace for the allow-list: it ended with 1');
  });
});
