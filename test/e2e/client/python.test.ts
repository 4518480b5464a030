import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { ASKING, TestDaemon } from '../../support/daemon.js';

const PACKAGE = fileURLToPath(new URL('../../../clients/python', import.meta.url));
/** A client that hangs must not stay, in milliseconds. */
const LONGEST_MS = 100_000;
/** That of the distribution, which has the packages. */
const PYTHON = '/usr/bin/python3';

/** Why the Python client cannot be tested here; undefined when it can. */
function obstacle(): string | undefined {
  try {
    execFileSync(PYTHON, ['-c', 'import sys, socketio, aiohttp; assert sys.version_info >= (3, 11)'], {
      stdio: 'pipe',
    });
    return undefined;
  } catch {
    return 'needs Python 3.11 with python3-socketio and python3-aiohttp';
  }
}

const missing = obstacle();

describe(`the Python client${missing === undefined ? '' : ` (${missing})`}`, () => {
  it.skipIf(missing !== undefined)('passes its own tests', async () => {
    await using daemon = await TestDaemon.start({ settings: { confirmation: ASKING } });
    const env = {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONWARNINGS: 'default',
      SHELL_ADAPTER_TEST_URL: daemon.url,
      SHELL_ADAPTER_TEST_TOKEN: daemon.createToken('agent', 'python'),
    };
    const asked = ['-m', 'unittest', 'tests.test_client', 'tests.test_requests'];
    const { stderr } = await promisify(execFile)(PYTHON, asked, { cwd: PACKAGE, env, timeout: LONGEST_MS });
    expect(stderr).toMatch(/\nOK\n$/);
    expect(stderr).not.toContain('Warning');
  });
});
