import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { Sandbox } from '../../../../src/engine/sandbox/sandbox.js';
import { testSandbox } from '../../../../src/engine/sandbox/self-test.js';
import { isRunning } from '../../../support/processes.js';
import { canSandbox } from '../../../support/sandbox.js';

/** Starts the real one with something else in front. */
const real = () => execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim();
/** What stands before the command line of the sandbox's program. */
const UNTIL_COMMAND = 'while [ "$1" != -- ]; do shift; done; shift';

describe('a bubblewrap of which the self-test says why it is no good', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(homedir(), '.shell-adapter-test-'));
    for (const name of ['workspace', 'runtime']) mkdirSync(join(root, name));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  /** Tries sandboxes that this shell text makes, instead of bubblewrap. */
  function tryOut(text: string, timeoutMs?: number) {
    const program = join(root, 'bwrap');
    writeFileSync(program, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const directory = join(root, 'runtime');
    const workspace = join(root, 'workspace');
    const options = { program, workspace, homes: [], runtimeParent: directory, directory };
    const sandbox = new Sandbox({
      ...options,
      hidden: [],
      sharesNetwork: true,
      unixSockets: false,
      protectedPaths: [],
    });
    return testSandbox(sandbox, { directory, workspace }, timeoutMs);
  }

  const both = (why: string) => ({ workspace: why, strict: why });

  it.each([
    [
      'starts the program without any sandbox',
      `${UNTIL_COMMAND}; exec "$@"`,
      'the directory of the shell can be written to',
    ],
    ['says nothing', 'exit 0', 'bubblewrap has said nothing'],
    ['is no program', 'no-such-program', expect.stringContaining('not found')],
    ['prints without an end', 'yes', 'bubblewrap has printed without an end'],
    [
      'may not make namespaces',
      'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1',
      'this user may not make (user) namespaces here (bwrap: setting up uid map: Permission denied)',
    ],
  ])('one that %s', async (_, text, why) => {
    expect(await tryOut(text)).toEqual(both(why as string));
  });

  it('one that hangs, which is ended with what it has started', async () => {
    const problems = await tryOut(`sleep 300 & echo $! >"${root}/pid-$$"; wait`, 300);
    expect(problems).toEqual(both('bubblewrap did not come to an end within 0.3 s'));
    const pids = execFileSync('sh', ['-c', `cat "${root}"/pid-*`], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(pids).toHaveLength(2);
    await expect.poll(() => pids.map(Number).filter(isRunning)).toEqual([]);
  });

  it.runIf(canSandbox)('one that lays the machine’s files writable', async () => {
    const text = `for a; do shift; [ "$a" != --ro-bind ] || [ "$1" != / ] || a=--bind; set -- "$@" "$a"; done; exec ${real()} "$@"`;
    expect(await tryOut(text)).toEqual(both(expect.stringContaining('root directory') as string));
  });

  it.runIf(canSandbox)('one that shows other processes', async () => {
    const text = `for a; do shift; [ "$a" = --unshare-pid ] || set -- "$@" "$a"; done; exec ${real()} "$@"`;
    expect(await tryOut(text)).toEqual(both('processes outside can be seen'));
  });

  it.runIf(canSandbox)('where user namespaces are forbidden', async () => {
    const forbidding = `exec ${real()} --dev-bind / / --unshare-user --disable-userns -- ${real()} "$@"`;
    const { strict, workspace } = await tryOut(forbidding);
    expect(strict).toMatch(/^this user may not make \(user\) namespaces here \(bwrap: .*namespace/);
    // Root needs none of them for the profile `workspace`.
    if (process.getuid?.() !== 0) expect(workspace).toBe(strict);
  });

  const GONE = "bwrap: Can't create file at /etc/gshadow.lock: Read-only file system";
  it.runIf(canSandbox)('and nothing where a hidden file has gone twice while the sandbox was made', async () => {
    const text = `case "$*" in *--disable-userns*) seen=seen-strict ;; *) seen=seen-workspace ;; esac
echo >>"${root}/$seen"; [ $(wc -l <"${root}/$seen") -gt 2 ] || { echo "${GONE}" >&2; exit 1; }; exec ${real()} "$@"`;
    expect(await tryOut(text)).toEqual({});
  });

  it('one that misses a hidden file at each attempt', async () => {
    expect(await tryOut(`echo "${GONE}" >&2; exit 1`)).toEqual(both(GONE));
  });

  it.runIf(canSandbox)('and nothing of the good one', async () => {
    expect(await tryOut(`exec ${real()} "$@"`)).toEqual({});
  });
});
