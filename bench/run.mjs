// Speed as a ratio to a floor measured in the same run: `npm run bench`. `--short` shows that everything runs, in a few
// seconds; `--only TEXT` runs the rows whose names contain it; `--json FILE` writes the numbers; `--page FILE` puts the
// table into a page. It never fails on a number: machines differ, and tests are elsewhere.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

import { updatePage } from './page.mjs';
import { cliExec, cliHelp } from './rows/cli.mjs';
import { connectBesideFlood } from './rows/connect-beside-flood.mjs';
import { echo, program } from './rows/echo.mjs';
import { cpDown, cpUp, httpDownload, httpUpload } from './rows/files.mjs';
import { floodBeside } from './rows/flood-beside.mjs';
import { largeOutput } from './rows/large-output.mjs';
import { manySessions } from './rows/many-sessions.mjs';
import { mcp } from './rows/mcp.mjs';
import { oneShot, oneShotRush } from './rows/one-shot.mjs';
import { openSession } from './rows/open-session.mjs';
import { policyRow } from './rows/policy.mjs';
import { sandboxedOneShot, sandboxedSession } from './rows/sandbox.mjs';
import { scale } from './rows/scale.mjs';
import { watchedOutput } from './rows/watched-output.mjs';
import { startDaemon, startFloor } from './targets.mjs';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    json: { type: 'string' },
    only: { type: 'string' },
    page: { type: 'string' },
  },
});

const all = [
  echo,
  program,
  manySessions,
  oneShot,
  oneShotRush,
  largeOutput,
  watchedOutput,
  floodBeside,
  openSession,
  scale,
  sandboxedOneShot,
  sandboxedSession,
  policyRow,
  connectBesideFlood,
  httpDownload,
  httpUpload,
  cpDown,
  cpUp,
  mcp,
  cliExec,
  cliHelp,
];
const rows = all.filter(({ name }) => name.includes(values.only ?? ''));

/** Two digits that mean something. */
const inMs = (ms) => ms.toFixed(ms < 0.1 ? 4 : 2);

function print({ name, target, floor, ours, ratio, cpuUs, extra }) {
  const cpu = cpuUs && `CPU ${cpuUs.ours.toFixed(0)} µs, floor ${cpuUs.floor.toFixed(0)}`;
  const cells = [
    name.padEnd(30),
    `floor ${inMs(floor.p50).padStart(8)} ms`,
    `ours ${inMs(ours.p50).padStart(8)} ms (p95 ${inMs(ours.p95)})`,
    `ratio ${ratio.toFixed(2).padStart(5)} (target ${target})`,
    ...(cpu ? [cpu] : []),
    ...(extra ? [extra] : []),
  ];
  console.log(cells.join('  '));
}

const results = [];
for (const row of rows) {
  // Each row gets fresh processes: one row's garbage is not another's time.
  const floor = await (row.startFloor === 'daemon' ? startDaemon() : startFloor());
  const daemon = await startDaemon(row);
  try {
    const { name, target, note } = row;
    const result = { name, target, ...(note && { note }), ...(await row.run({ floor, daemon, short: values.short })) };
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
if (values.page) updatePage(values.page, results);
process.exit(0);
