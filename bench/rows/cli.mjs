import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { inRounds } from '../measure.mjs';

const MAIN = fileURLToPath(new URL('../../dist/shell-adapter.cjs', import.meta.url));
const run = promisify(execFile);
/** Node.js 20 reads the certificates of a variable at each start, which would be most of the floor. */
const ENVIRONMENT = { ...process.env, NODE_EXTRA_CA_CERTS: '' };
const node = (args, url) =>
  run(process.execPath, args, { env: { ...ENVIRONMENT, ...(url && { SHELL_ADAPTER_URL: url }) } });

/** Runs a command line beside Node.js alone: both are whole processes. */
const timeCommand = (args) => ({
  run: ({ daemon, short }) =>
    inRounds({
      rounds: short ? 2 : 12,
      runs: short ? 2 : 5,
      warmUp: 3,
      floor: () => node(['-e', '0']),
      ours: () => node([MAIN, ...args], daemon.url),
    }),
});

export const cliExec = { name: 'shell-adapter exec -n true', target: 2.5, ...timeCommand(['exec', '-n', 'true']) };

export const cliHelp = { name: 'shell-adapter --help', target: 2, ...timeCommand(['--help']) };
