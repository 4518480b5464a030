import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { ASKING, MAIN, TestDaemon } from '../../support/daemon.js';
import { PYTHON, pythonObstacle as missing } from '../../support/python.js';
import { runCli } from '../cli/support.js';
import { DetachedDaemon } from '../detach/detached-daemon.js';

const PACKAGE = fileURLToPath(new URL('../../../clients/python', import.meta.url));
/** A client that hangs must not stay, in milliseconds. */
const LONGEST_MS = 100_000;
/** Runs tests of the client, which must pass without a warning. */
async function passes(tests: readonly string[], variables: Readonly<Record<string, string>>): Promise<void> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONWARNINGS: 'default', ...variables };
  const asked = ['-m', 'unittest', ...tests];
  const { stderr } = await promisify(execFile)(PYTHON, asked, { cwd: PACKAGE, env, timeout: LONGEST_MS });
  expect(stderr).toMatch(/\nOK\n$/);
  expect(stderr).not.toContain('Warning');
}

describe(`the Python client${missing === undefined ? '' : ` (${missing})`}`, () => {
  it.skipIf(missing !== undefined)('passes its own tests', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { confirmation: ASKING } });
    await passes(['tests.test_client', 'tests.test_requests'], {
      SHELL_ADAPTER_TEST_URL: daemon.url,
      SHELL_ADAPTER_TEST_TOKEN: daemon.createToken('agent', 'python'),
    });
  });

  it.skipIf(missing !== undefined)(
    'keeps sessions that outlive a daemon',
    async () => {
      await using detached = await DetachedDaemon.start();
      await passes(['tests.test_detached'], {
        SHELL_ADAPTER_TEST_URL: detached.url,
        SHELL_ADAPTER_TEST_RESTART: JSON.stringify([process.execPath, MAIN, 'restart', '--url', detached.url]),
      });
      expect(await runCli(['stop', '--url', detached.url])).toMatchObject({ code: 0 });
    },
    60_000,
  );
});
