import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connect } from '../../../src/client/index.js';
import type { TestDaemon } from '../../support/daemon.js';
import { canSandbox, makeDirectory, PLACES, runnerIn, startSandboxed } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

/** Connects to a Unix socket, and prints the error's code or `connected`. */
const SCRIPT = `
const socket = require('node:net').connect(process.argv[2]);
socket.once('connect', () => { console.log('connected'); socket.destroy(); });
socket.once('error', ({ code }) => console.log(code));
`;

const NOWHERE = /^(ENOENT|ECONNREFUSED)\n$/;

/** Starts a daemon with a Unix socket at a path below its own folder. */
async function startWithSocket(place: string, directory = makeDirectory()) {
  const path = join(directory, place);
  const settings = { sandbox: { profile: 'workspace', require: true }, socketio: { unix_socket: path } };
  const daemon = await startSandboxed({ settings }, directory);
  writeFileSync(join(daemon.workspace, 'connect.cjs'), SCRIPT);
  return { daemon, path };
}

describe.runIf(canSandbox).each(['workspace/sub/run/socket', 'state/run/socket', 'run/socket'])(
  'a socket in %s',
  (at) => {
    let daemon: TestDaemon;
    let client: WireClient;
    let path: string;
    beforeAll(async () => {
      ({ daemon, path } = await startWithSocket(at));
      client = await WireClient.connect(daemon.url);
    });
    afterAll(async () => {
      await client[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
    });

    it('answers outside of sandboxes', async () => {
      await using outside = await connect(`unix:${path}`);
      expect(await outside.execute('echo reached')).toMatchObject({ stdout: 'reached\n' });
    });

    it.each(PLACES)('%s: cannot be reached in one', async (place) => {
      const run = await runnerIn(client, place);
      expect((await run(`${process.execPath} connect.cjs '${path}'`)).stdout).toMatch(NOWHERE);
    });
  },
);

describe.runIf(canSandbox)('a socket below the workspace', () => {
  it('is not uncovered for the next session by moving what is around it', async () => {
    const { daemon } = await startWithSocket('workspace/sub/run/socket');
    await using started = daemon;
    await using client = await WireClient.connect(started.url);
    const first = await runnerIn(client, 'bash');
    expect((await first('mv sub/run sub/moved || mv sub moved || rm -r sub')).exitCode).not.toBe(0);
    const next = await runnerIn(client, 'bash');
    const found = await next(
      `find . -type s; for path in */run/socket */moved/socket; do ${process.execPath} connect.cjs $path; done`,
    );
    expect(found.stdout).not.toContain('connected');
    expect(found.stdout).not.toContain('socket');
  });

  it('needs a folder of its own: in the workspace itself no sandbox can be made', async () => {
    const directory = makeDirectory();
    const start = startWithSocket('workspace/socket', directory);
    await expect(start).rejects.toThrow('the folder of the Unix socket, which has to be hidden');
    rmSync(directory, { recursive: true });
  });
});
