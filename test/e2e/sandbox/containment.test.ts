import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { isRunning, runtimeDirectoriesOf } from '../../support/processes.js';
import { isRoot, ROOT_MARK } from '../../support/root.js';
import {
  canBeNobody,
  canSandbox,
  CREDENTIAL_FILES,
  NOTES,
  PLACES,
  type Runner,
  runnerIn,
  SECRET,
  startAsNobody,
  startSandboxed,
} from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';

const PROFILES = ['workspace', 'strict'] as const;
/** Without the mark: the run of an ordinary user, beside which the marked tests are run, is the same. */
const NOBODY = 'nobody';
const THIS_USER = isRoot ? `root ${ROOT_MARK}` : 'this user';
const kinds = (places: readonly string[], user: string) => PROFILES.map((profile) => ({ profile, places, user }));
/** Whoever runs the tests, and one who has no rights of root: bubblewrap then makes a user namespace. */
const KINDS = [...kinds(PLACES, THIS_USER), ...(canBeNobody ? kinds(['bash', 'one-shot'], NOBODY) : [])];

/** Commands that must fail; `$OUT` is the daemon's folder, beside the workspace. */
const FORBIDDEN: readonly (readonly [title: string, command: string])[] = [
  ['write outside of the workspace', 'echo x >"$OUT/escaped"'],
  ['write over a link that leads out', 'echo x >>link'],
  ['make a file in the home directory', 'echo x >"$OUT/home/file"'],
  ['remove what is beside the workspace', 'rm -rf "$OUT/home" || rm -f "$OUT/log"'],
  ['write to /etc', ': >>/etc/passwd'],
  ['make a device', 'mknod device c 1 3'],
  ['change a setting of the kernel', ': >>/proc/sys/kernel/core_pattern'],
  ['change a setting of the kernel over process 1', ': >>/proc/1/root/proc/sys/kernel/core_pattern'],
  ['mount the root directory anew', 'mount -o remount,rw /'],
  ['mount a file system', 'mount -t tmpfs none "$OUT"'],
  ['take a cover away', 'umount "$OUT/state"'],
  ['mount anew in a user namespace of its own', "unshare -Urm sh -c 'mount -o remount,rw / && echo x >/escaped'"],
  ['uncover in a user namespace of its own', 'unshare -Urm umount "$OUT/state"'],
  ['signal the daemon', 'kill -0 "$DAEMON"'],
  [
    'put a file beside the pipes of its own shell',
    `for d in "$RUNTIME"/*/*/ "$RUNTIME"/*/one-shots/pipes/*/; do : >"$d/x" && exit 0; done; false`,
  ],
  ['write to the root of the control groups', 'echo 1 >/sys/fs/cgroup/memory/cgroup.procs'],
];

/** Commands that may succeed, but must not show a secret. */
const HIDDEN: readonly (readonly [title: string, command: string])[] = [
  ['the token', 'cat "$OUT/state/token"'],
  ['the state directory', 'find "$OUT/state"'],
  ['the configuration', 'cat "$OUT/config.yaml"'],
  ['secrets of the home directory', 'cat "$OUT"/home/.ssh/* "$OUT"/home/.aws/* "$OUT/home/.netrc"'],
  ['the environment of processes', "cat /proc/[0-9]*/environ | tr '\\0' '\\n'"],
  ['the same over process 1', 'cat "/proc/1/root$OUT/state/token" "/proc/1/root$OUT/home/.netrc"'],
];

describe.runIf(canSandbox).each(KINDS)('$profile, as $user', ({ profile, places, user }) => {
  /** A directory that is not there; the daemon makes it, for its user alone. */
  const missing = `/var/tmp/shell-adapter-test-missing-${process.pid}-${randomUUID()}`;
  let daemon: TestDaemon;
  let client: WireClient;

  beforeAll(async () => {
    const options = { settings: { sandbox: { profile, require: true } }, env: { TMPDIR: missing } };
    if (user === NOBODY) ({ daemon, client } = await startAsNobody(options));
    else {
      daemon = await startSandboxed(options);
      client = await WireClient.connect(daemon.url);
    }
    symlinkSync(join(daemon.directory, 'config.yaml'), join(daemon.workspace, 'link'));
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    rmSync(missing, { recursive: true, force: true });
  });

  describe.each(places)('%s', (place) => {
    let run: Runner;

    beforeAll(async () => {
      const inPlace = await runnerIn(client, place);
      const runtime = dirname(runtimeDirectoriesOf(daemon.pid)[0]!);
      const names = `OUT='${daemon.directory}' DAEMON=${daemon.pid} RUNTIME='${runtime}'`;
      run = (command) => inPlace(`${names}; ${command}`);
    });

    it.each(FORBIDDEN)('cannot %s', async (_, command) => {
      const config = readFileSync(join(daemon.directory, 'config.yaml'), 'utf8');
      const result = await run(`(${command}) 2>&1`);
      expect(result.exitCode, result.stdout).not.toBe(0);
      expect(existsSync(join(daemon.directory, 'escaped'))).toBe(false);
      expect(readFileSync(join(daemon.directory, 'config.yaml'), 'utf8')).toBe(config);
      expect(isRunning(daemon.pid)).toBe(true);
    });

    it.each(HIDDEN)('does not see %s', async (_, command) => {
      const { stdout } = await run(`{ ${command}; } 2>/dev/null`);
      expect(stdout).not.toContain(SECRET);
      expect(stdout).not.toContain('sat_');
      expect(stdout).not.toContain('workspace_directory');
    });

    it('does not see passwords', async () => {
      // A sandbox of its own: tests of users make some meanwhile, which uncovers the file for some milliseconds.
      const inPlace = await runnerIn(client, place);
      expect((await inPlace('cat /etc/shadow 2>/dev/null')).stdout).not.toContain('root:');
    });

    it('sees nothing of any place of credentials in the home directory, but what else is there', async () => {
      expect(CREDENTIAL_FILES.length).toBeGreaterThan(100);
      const { stdout } = await run('find "$OUT/home" -type f -exec cat {} + 2>/dev/null');
      expect(stdout).toContain(NOTES);
      expect(stdout).not.toContain(SECRET);
      const each = CREDENTIAL_FILES.map((file) => `"$OUT/home/${file}"`).join(' ');
      expect((await run(`cat ${each} 2>/dev/null`)).stdout).toBe('');
    });

    it('writes in the workspace and in a /tmp of its own', async () => {
      const { stdout } = await run(
        `echo kept >by-${place}; echo gone >/tmp/by-${place}; cat by-${place} /tmp/by-${place}`,
      );
      expect(stdout).toBe('kept\ngone\n');
      expect(readFileSync(join(daemon.workspace, `by-${place}`), 'utf8')).toBe('kept\n');
      expect(existsSync(`/tmp/by-${place}`)).toBe(false);
    });

    it('makes temporary files, wherever the daemon’s TMPDIR leads, and files that belong to the daemon’s user', async () => {
      const { stdout } = await run('mktemp && touch own');
      expect(stdout).toMatch(/^\/tmp\/tmp\.\w+\n$/);
      expect(statSync(join(daemon.workspace, 'own')).uid).toBe(statSync(daemon.workspace).uid);
    });

    it('sees the pipes of its own shell and of no other', async () => {
      await client.openSession();
      const { stdout } = await run('find "$RUNTIME" -type p | sed "s,/[^/]*$,," | sort -u | wc -l');
      expect(stdout.trim()).toBe('1');
    });

    it('sees no process but its own', async () => {
      const { stdout } = await run('cat /proc/[0-9]*/comm | sort -u');
      expect(stdout).toContain('bwrap');
      expect(stdout).not.toMatch(/node|MainThread/);
    });

    it('has no capability, and cannot get one', async () => {
      const { stdout } = await run("grep -E '^(CapPrm|CapEff|NoNewPrivs)' /proc/self/status");
      expect(stdout.replaceAll(/\s+/g, ' ').trim()).toBe(
        'CapPrm: 0000000000000000 CapEff: 0000000000000000 NoNewPrivs: 1',
      );
    });

    it(profile === 'strict' ? 'has no network, not even the daemon’s port' : 'has a network', async () => {
      const { hostname, port } = new URL(daemon.url);
      const { exitCode } = await run(`bash -c ': <>/dev/tcp/${hostname}/${port}' 2>/dev/null`);
      expect(exitCode === 0).toBe(profile === 'workspace');
    });
  });
});
