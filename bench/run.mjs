// Speed as a ratio to a floor measured in the same run: `npm run bench`. `--short` shows that everything runs, in a few
// seconds; `--json FILE` writes the numbers. It never fails on a number: machines differ, and tests are elsewhere.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

import { cliExec, cliHelp } from './rows/cli.mjs';
import { echo } from './rows/echo.mjs';
import { largeOutput } from './rows/large-output.mjs';
import { manySessions } from './rows/many-sessions.mjs';
import { oneShot, oneShotRush } from './rows/one-shot.mjs';
import { openSession } from './rows/open-session.mjs';
import { policyRow } from './rows/policy.mjs';
import { sandboxedOneShot, sandboxedSession } from './rows/sandbox.mjs';
import { startDaemon, startFloor } from './targets.mjs';

const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, json: { type: 'string' }, only: { type: 'string' } },
});

const all = [
  echo,
  oneShot,
  oneShotRush,
  openSession,
  largeOutput,
  manySessions,
  policyRow,
  sandboxedOneShot,
  sandboxedSession,
  cliExec,
  cliHelp,
];
const rows = all.filter(({ name }) => name.includes(values.only ?? ''));

/** Two digits that mean something. */
const inMs = (ms) => ms.toFixed(ms < 0.1 ? 4 : 2);

function print({ name, target, floor, ours, ratio, extra }) {
  const cells = [
    name.padEnd(28),
    `floor ${inMs(floor.p50).padStart(8)} ms`,
    `ours ${inMs(ours.p50).padStart(8)} ms (p95 ${inMs(ours.p95)})`,
    `ratio ${ratio.toFixed(2).padStart(5)} (target ${target})`,
  ];
  console.log(cells.join('  ') + (extra ? `  ${extra}` : ''));
}

const results = [];
for (const row of rows) {
  // Each row gets fresh processes: one row's garbage is not another's time.
  const floor = await (row.startFloor ?? startFloor)();
  const daemon = await startDaemon(row.settings);
  try {
    const { name, target, note } = row;
    const measured = await row.run({ floor, daemon, short: values.short });
    const result = { name, target, ...(note && { note }), ...measured, ratio: measured.ours.p50 / measured.floor.p50 };
    results.push(result);
    print(result);
  } finally {
    await daemon.stop();
    await floor.stop();
  }
}

if (values.json) {
  mkdirSync(dirname(values.json), { recursive: true });
  writeFileSync(
    values.json,
    `${JSON.stringify({ at: new Date().toISOString(), node: process.version, results }, null, 2)}\n`,
  );
}
process.exit(0);
