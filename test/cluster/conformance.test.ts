import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { startGatewayBench } from '../conformance/harness/gateway-bench.js';
import { canRunRedis } from './harness/redis.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Rows about what a gateway passes on. */
const ROWS: Readonly<Record<string, readonly string[]>> = {
  'output and its events': ['A7', 'A13', 'A14'],
  'large requests, standard input, repetitions, order': ['C10', 'C17', 'C24', 'C28'],
  'background and late output': ['F1', 'F2', 'F5a', 'F11'],
  'signals, typed input, a terminal': ['G2c', 'G4', 'G7b', 'G9', 'G11e', 'G18', 'G20'],
  'connections that are lost': ['J1', 'J3'],
};
const FILES = [
  'a-output',
  'a-output-more',
  'c-input',
  'f-background',
  'g-interactive',
  'g-interactive-more',
  'j-connection',
];

describe.skipIf(!canRunRedis)(
  'a selection of the conformance suite: npm run conformance:gateway runs the whole',
  () => {
    it('gives through a gateway what it gives directly', async () => {
      await using bench = await startGatewayBench();
      const ids = Object.values(ROWS).flat();
      const args = [
        '--url',
        bench.url,
        '-t',
        ` (${ids.join('|')}) `,
        ...FILES.map((name) => `test/conformance/${name}.test.ts`),
      ];
      // Rows about processes are repeated on a machine under load, as on machines of others.
      const env = { ...process.env, CI: '1' };
      const stdio = ['ignore', 'pipe', 'pipe'] as const;
      const child = spawn(process.execPath, ['scripts/conformance.mjs', ...args], {
        cwd: ROOT,
        stdio: [...stdio],
        env,
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      expect(code, output).toBe(0);
      expect(output).toMatch(new RegExp(`Tests .*${ids.length} passed`));
    });
  },
);
