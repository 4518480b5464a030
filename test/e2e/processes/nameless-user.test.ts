import { chmodSync, chownSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { itRootIf } from '../../support/root.js';
import { canBeNobody } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

/** Of nobody on this machine: containers are often run with such a number. */
const UID = 54_321;
const launcher = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'];

itRootIf(canBeNobody)('a daemon whose user has a number and no name runs commands, with limits', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
  chmodSync(directory, 0o755);
  chownSync(directory, UID, UID);
  await using daemon = await TestDaemon.start({ launcher, env: { HOME: directory } }, directory);
  const token = readFileSync(join(directory, 'state', 'token'), 'utf8').trim();
  await using client = await WireClient.connect(daemon.url, ['websocket'], { token });
  const id = await client.openSession({ limits: { processes: 20 } });
  expect(await client.run('id -u', id)).toMatchObject({ stdout: `${UID}\n`, exit_code: 0 });
  expect(await client.run('id -u')).toMatchObject({ stdout: `${UID}\n`, exit_code: 0 });
  const crowd = 'for i in $(seq 40); do sleep 300 & done 2>/dev/null; wait';
  expect(await client.run(crowd, id)).toMatchObject({ killed_by: 'processes', session_state: 'alive' });
  expect(await client.request('shell_metadata', {})).toMatchObject({ user: String(UID) });
});
