import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';
import type { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { callCli } from './in-process.js';
import { makeFolder, urlVariable } from './support.js';

const it = daemonTest();

const signIn = ({ url }: TestDaemon, link: string) =>
  ask(new URL('/session', url), {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ code: link.trim().split('#code=')[1] }),
  });

/** Writes a program that stands for a browser: it notes its arguments, and uses the link of the file that it is given. */
function makeBrowser(folder: string): string {
  const program = join(folder, 'browser');
  writeFileSync(
    program,
    `#!/usr/bin/env node
const { readFileSync, statSync, writeFileSync } = require('node:fs');
const { fileURLToPath } = require('node:url');
const file = fileURLToPath(process.argv[2]);
const [, target] = /url=([^"]+)"/.exec(readFileSync(file, 'utf8'));
const { origin, hash } = new URL(target);
writeFileSync(${JSON.stringify(join(folder, 'seen'))}, JSON.stringify({ args: process.argv.slice(2), mode: statSync(file).mode & 0o777, target }));
fetch(origin + '/session', { method: 'POST', headers: { origin, 'content-type': 'application/json' }, body: JSON.stringify({ code: hash.slice(6) }) });
`,
  );
  chmodSync(program, 0o755);
  return program;
}

describe('dashboard', () => {
  it('prints a link where there is no browser, with a role and a time', async ({ daemon }) => {
    const env = { ...urlVariable(daemon), BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' };
    const { code, stdout, stderr } = await callCli(['dashboard', '--role', 'viewer', '--for', '1h'], { env });
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('role viewer') as string });
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}\n$/);
    expect(await signIn(daemon, stdout)).toMatchObject({ status: 200, body: { role: 'viewer' } });
    expect((await signIn(daemon, stdout)).status).toBe(401);
  });

  it('opens a browser by a private file, which it removes', async ({ daemon }) => {
    using folder = makeFolder();
    using runtime = makeFolder();
    const browser = `no-such-browser:${makeBrowser(folder.path)} %s`;
    const env = { ...urlVariable(daemon), BROWSER: browser, XDG_RUNTIME_DIR: runtime.path };
    const { code, stdout, stderr } = await callCli(['dashboard'], { env });
    expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: '' });
    expect(stderr).toContain('the browser is signed in');
    const seen = JSON.parse(readFileSync(join(folder.path, 'seen'), 'utf8')) as {
      args: string[];
      mode: number;
      target: string;
    };
    expect(seen.target).toContain('#code=');
    expect(seen.args.join()).not.toContain('code=');
    expect(seen.mode).toBe(0o600);
    expect(readdirSync(runtime.path)).toEqual([]);
  });

  it.for([
    [['--for', '13h'], 'is not a time from 1m to 12h'],
    [['--for', 'soon'], 'is not a time from 1m to 12h'],
    [['--role', 'king'], "argument 'king' is invalid"],
    [['--url', 'unix:/tmp/none'], 'a browser cannot open a Unix socket'],
  ] as const)('refuses %j', async ([args, why], { daemon }) => {
    const { code, stderr } = await callCli(['dashboard', ...args], { env: urlVariable(daemon) });
    expect(code).toBe(2);
    expect(stderr).toContain(why);
  });
});
