import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { isRoot, ROOT_MARK } from '../../support/root.js';
import { canBeNobody, canSandbox, SECRET, startAsNobody, startSandboxed } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';
import { eventually } from '../../support/measure.js';

/** Nobody has no mark: the run of an ordinary user, beside which the marked tests are run, is the same. */
const users = [isRoot ? `root ${ROOT_MARK}` : 'this user', ...(canBeNobody ? ['nobody'] : [])];
const KINDS = (['workspace', 'strict'] as const).flatMap((profile) => users.map((user) => ({ profile, user })));

/** A new file in the place of another one, as programs save what must not be lost. */
function replace(path: string): void {
  writeFileSync(`${path}.new`, SECRET);
  renameSync(`${path}.new`, path);
}

function replaceDirectory(path: string): void {
  cpSync(path, `${path}.new`, { recursive: true });
  renameSync(path, `${path}.old`);
  renameSync(`${path}.new`, path);
}

/** Files of the home directory, and how each becomes one that no mount hides. */
const CHANGES: Readonly<Record<string, (path: string, home: string) => void>> = {
  // A login that is saved again.
  '.netrc': replace,
  // One that did not exist.
  '.npmrc': (path) => {
    writeFileSync(path, SECRET);
  },
  // The file itself is in a directory that is hidden, or is not.
  '.aws/credentials': (_path, home) => {
    replaceDirectory(join(home, '.aws'));
  },
  '.config/gh/hosts.yml': (_path, home) => {
    replaceDirectory(join(home, '.config/gh'));
  },
  // A name that is secret in any directory.
  'new.pem': (path) => {
    writeFileSync(path, SECRET);
  },
  // A link, and where it leads.
  '.pgpass': (path, home) => {
    replace(join(home, 'notes-of-databases'));
    rmSync(path);
    symlinkSync('notes-of-databases', path);
  },
};
const FILES = Object.keys(CHANGES);

describe.runIf(canSandbox).each(KINDS)('$profile, as $user', ({ profile, user }) => {
  let daemon: TestDaemon;
  let client: WireClient;

  beforeEach(async () => {
    const adapter = { prewarm: { sessions: 0, one_shots: 0 } };
    const options = { settings: { sandbox: { profile, require: true }, adapter, logging: { logging_level: 'DEBUG' } } };
    if (user.startsWith('nobody')) ({ daemon, client } = await startAsNobody(options));
    else {
      daemon = await startSandboxed(options);
      client = await WireClient.connect(daemon.url);
    }
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  /** The processes in whose sandboxes a file was hidden again. */
  const hiddenAgain = (path: string): number =>
    readFileSync(join(daemon.directory, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('hidden again') && line.includes(`"${path}"`)).length;

  it('hides what has changed from programs that run, in a session and without one', async () => {
    const home = join(daemon.directory, 'home');
    rmSync(join(home, '.npmrc'));
    const files = FILES.map((file) => join(home, file));
    const read = `until [ -e go ]; do sleep 0.05; done; cat ${files.join(' ')} 2>/dev/null; echo read`;
    // A program may have a mount namespace of its own there, with copies of the mounts. Root without rights cannot.
    const [namespaces, nested] = profile === 'workspace' && !user.startsWith('root') ? [3, 'unshare -Urm'] : [2, ''];
    const session = await client.openSession();
    const running = [
      client.run(`${nested} sh -c 'touch is-ready-session; ${read}'`, session),
      client.run(`touch is-ready-alone; ${read}`),
    ];
    const isReady = (name: string) => existsSync(join(daemon.workspace, `is-ready-${name}`));
    await vi.waitUntil(() => isReady('session') && isReady('alone'), { timeout: 10_000 });
    for (const file of FILES) CHANGES[file]?.(join(home, file), home);
    const hidden = ['.netrc', '.npmrc', '.aws', '.config/gh/hosts.yml', 'new.pem', 'notes-of-databases'];
    await vi.waitFor(
      () => {
        for (const file of hidden) expect(hiddenAgain(join(home, file)), file).toBe(namespaces);
      },
      { timeout: 10_000 },
    );
    writeFileSync(join(daemon.workspace, 'go'), '');
    for (const answer of await Promise.all(running)) expect(answer).toMatchObject({ exit_code: 0, stdout: 'read\n' });
    // The directory is another one than at the start of the sandbox.
    const login = join(home, '.config/gh/hosts.yml');
    replace(login);
    await eventually(() => {
      expect(hiddenAgain(login)).toBe(namespaces + 1);
    });
    expect(await client.run(`cat ${files.join(' ')} 2>/dev/null`, session)).toMatchObject({ stdout: '' });
  });
});
