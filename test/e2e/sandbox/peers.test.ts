import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { canSandbox, PLACES, runnerIn, startSandboxed } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

/** Connects as any client does, with the token in its argument if there is one, and prints the daemon's answer. */
const SCRIPT = `
const [url, token] = process.argv.slice(2);
const base = url + '/socket.io/?EIO=4&transport=polling';
const { sid } = JSON.parse((await (await fetch(base)).text()).slice(1));
const packet = '40' + (token ? JSON.stringify({ token }) : '');
await fetch(base + '&sid=' + sid, { method: 'POST', body: packet, headers: { 'content-type': 'text/plain' } });
console.log(await (await fetch(base + '&sid=' + sid)).text());
`;

describe.runIf(canSandbox)('a command in a sandbox that shares the network', () => {
  let daemon: TestDaemon;
  let client: WireClient;
  beforeAll(async () => {
    daemon = await startSandboxed({ settings: { sandbox: { profile: 'workspace' } } });
    client = await WireClient.connect(daemon.url);
    writeFileSync(join(daemon.workspace, 'connect.mjs'), SCRIPT);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });
  const command = (...args: string[]) => [process.execPath, 'connect.mjs', daemon.url, ...args];

  it.each(PLACES)('%s: is nobody to the daemon without a token', async (place) => {
    const run = await runnerIn(client, place);
    expect((await run(command().join(' '))).stdout).toMatch(/^44.*UNAUTHORIZED/);
  });

  it('is let in with a token', async () => {
    const token = daemon.createToken('agent', 'inside');
    const run = await runnerIn(client, 'bash');
    expect((await run(command(token).join(' '))).stdout).toMatch(/^40\{"sid"/);
  });

  it('takes nothing from programs outside, which need none', () => {
    const [file = '', ...args] = command();
    const { stdout } = spawnSync(file, args, { cwd: daemon.workspace, encoding: 'utf8' });
    expect(stdout).toMatch(/^40\{"sid"/);
  });
});
