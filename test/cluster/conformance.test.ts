import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

import { TestCluster } from './harness/cluster.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The suite takes a minute and a half on two cores. */
const SUITE_MS = 400_000;
/** These rows fill the machine with processes, which says nothing about a gateway. */
const LEFT_OUT = ['k-processes.test.ts'];

it(
  'each trap of the conformance suite gives through a gateway what it gives directly',
  { timeout: SUITE_MS },
  async () => {
    await using cluster = new TestCluster();
    const { gateway } = await cluster.startWith('worker-1');
    const files = readdirSync(`${ROOT}test/conformance`).filter(
      (name) => name.endsWith('.test.ts') && !LEFT_OUT.includes(name),
    );
    const child = spawn(
      process.execPath,
      ['scripts/conformance.mjs', '--url', gateway.url, ...files.map((name) => `test/conformance/${name}`)],
      // Rows about processes are repeated on a machine under load, as on machines of others.
      { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, CI: '1' } },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, output).toBe(0);
  },
);
