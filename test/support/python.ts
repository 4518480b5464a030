import { execFileSync } from 'node:child_process';

/** That of the distribution, which has the packages. */
export const PYTHON = '/usr/bin/python3';

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

/** Why the Python client cannot be tested here; undefined when it can. */
export const pythonObstacle = obstacle();
