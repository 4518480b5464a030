// Speed of the dashboard in Chromium: `npm run bench:dashboard`. Each figure stands beside a floor of the same run. `--short`
// shows that everything runs; `--json FILE` writes the numbers. It never fails on a number.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

import { chromium } from 'playwright-core';

import { firstPaint } from './dashboard/first-paint.mjs';
import { idleCost } from './dashboard/idle-cost.mjs';
import { keyToEcho } from './dashboard/key-to-echo.mjs';
import { manySessions } from './dashboard/many-sessions.mjs';
import { watchedFlood } from './dashboard/watched-flood.mjs';
import { startDaemon } from './targets.mjs';

const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, json: { type: 'string' }, only: { type: 'string' } },
});

const rows = [firstPaint, keyToEcho, watchedFlood, manySessions, idleCost].filter(({ name }) =>
  name.includes(values.only ?? ''),
);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-dev-shm-usage'],
  chromiumSandbox: false,
});
const results = [];
try {
  for (const row of rows) {
    const daemon = await startDaemon(row);
    try {
      const figures = await row.run({ daemon, browser, short: values.short });
      results.push({ name: row.name, figures });
      for (const { what, floor, ours, target } of figures) {
        const cells = [`${row.name}: ${what}`.padEnd(48), `floor ${floor}`.padEnd(24), `ours ${ours}`.padEnd(32)];
        console.log([...cells, `target ${target}`].join('  '));
      }
    } finally {
      await daemon.stop();
    }
  }
} finally {
  await browser.close();
}
if (values.json) {
  mkdirSync(dirname(values.json), { recursive: true });
  writeFileSync(values.json, `${JSON.stringify({ at: new Date().toISOString(), results }, null, 2)}\n`);
}
process.exit(0);
