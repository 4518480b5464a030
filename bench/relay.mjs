// What a gateway and a worker add to a daemon alone: `npm run bench:relay`. Links are those of a real cluster, with TLS on both sides. It never
// fails on a number. `--short` shows that everything runs; `--only TEXT` runs the rows whose names contain it. Build first.
import { parseArgs } from 'node:util';

import { idle } from './relay/idle.mjs';
import { flood } from './relay/flood.mjs';
import { loss } from './relay/loss.mjs';
import { overhead } from './relay/overhead.mjs';

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false }, only: { type: 'string' } } });

for (const row of [overhead, flood, loss, idle]) {
  if (!row.name.includes(values.only ?? '')) continue;
  console.log(`${row.name}: ${await row.run({ short: values.short })}`);
}
process.exit(0);
