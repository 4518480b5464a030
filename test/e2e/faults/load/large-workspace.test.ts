import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { TestDaemon } from '../../../support/daemon.js';
import { MIB, observe, percentile, timed } from '../../../support/measure.js';
import { rounds } from '../../../support/rounds.js';
import { WireClient } from '../../../support/wire.js';

/** Directories with files, and files in each: 50,000 files where all rounds are asked for. */
const DIRECTORIES = rounds(500, 150);
const FILES_IN_EACH = 100;
const FILES = DIRECTORIES * FILES_IN_EACH;

/** Making and looking at 50,000 files takes its time on a busy machine, in milliseconds. */
const LARGE_TIMEOUT_MS = 180_000;

it(
  `${FILES} files: saved, saved again and restored, while other clients are served`,
  { timeout: LARGE_TIMEOUT_MS },
  async () => {
    await using daemon = await TestDaemon.start();
    await using client = await WireClient.connect(daemon.url);
    const session = await client.openSession();
    execFileSync(process.execPath, ['-e', MAKE_MANY], { cwd: daemon.workspace });
    const first = await timed(() => client.request('checkpoint_workspace', {}));
    expect(first.value).toMatchObject({ files: FILES });
    const times: Record<string, number> = { first: first.ms };
    const { echoMs, growth } = await observe(client, session, daemon.pid, async () => {
      times['second'] = (await timed(() => client.request('checkpoint_workspace', {}))).ms;
      rmSync(join(daemon.workspace, 'd0'), { recursive: true });
      const { checkpoint_id } = first.value;
      const restored = await timed(() => client.request('restore_workspace', { checkpoint_id }));
      times['restore'] = restored.ms;
      expect(restored.value).toMatchObject({ restored_count: FILES / 10, removed_count: 0 });
      expect(restored.value.restored).toHaveLength(1000);
      times['diff'] = (await timed(() => client.request('diff_workspace', { checkpoint_id }))).ms;
    });
    const report = JSON.stringify({ ...times, echoP95: percentile(echoMs, 0.95), growth });
    // What one request held up would be as long as that.
    expect(percentile(echoMs, 0.5), report).toBeLessThan(Math.max(...Object.values(times)) / 2);
    expect(growth, report).toBeLessThan(64 * MIB);
  },
);

const MAKE_MANY = `
  const fs = require('node:fs');
  for (let d = 0; d < ${DIRECTORIES}; d++) {
    fs.mkdirSync('d' + (d % 10) + '/s' + d, { recursive: true });
    for (let f = 0; f < ${FILES_IN_EACH}; f++) fs.writeFileSync('d' + (d % 10) + '/s' + d + '/f' + f, ('file ' + d + ' ' + f + '\\n').repeat(20));
  }`;
