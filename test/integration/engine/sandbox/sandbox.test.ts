import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { launchScript, WRONG_MOUNT } from '../../../../src/core/sandbox.js';
import { protectedPlaces, Sandbox } from '../../../../src/engine/sandbox/sandbox.js';
import { PidNamespaceSockets } from '../../../../src/engine/platform/peer.js';
import { canSandbox } from '../../../support/sandbox.js';

let root: string;
let workspace: string;
beforeEach(() => {
  root = mkdtempSync(join(homedir(), '.shell-adapter-test-'));
  workspace = join(root, 'work space');
  mkdirSync(workspace);
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

describe('protected places', () => {
  it('mounts the directories on the way onto themselves', () => {
    mkdirSync(join(workspace, 'a/b'), { recursive: true });
    writeFileSync(join(workspace, 'a/b/c'), '');
    expect(protectedPlaces(workspace, ['a/b/c'])).toEqual([
      { path: join(workspace, 'a'), view: 'writable' },
      { path: join(workspace, 'a/b'), view: 'writable' },
      { path: join(workspace, 'a/b/c'), view: 'read-only' },
    ]);
  });

  it('does not make a protected directory writable for one within it', () => {
    mkdirSync(join(workspace, 'a/b'), { recursive: true });
    for (const paths of [
      ['a/', 'a/b/'],
      ['a/b/', 'a/'],
    ]) {
      expect(protectedPlaces(workspace, paths)).toContainEqual({ path: join(workspace, 'a'), view: 'read-only' });
    }
  });

  it('makes what is missing, where the directory around it is there', () => {
    mkdirSync(join(workspace, '.git'));
    expect(protectedPlaces(workspace, ['.git/hooks/', '.git/config', 'no/such']).map(({ path }) => path)).toEqual(
      ['.git', '.git/hooks', '.git/config'].map((name) => join(workspace, name)),
    );
    expect(existsSync(join(workspace, '.git/hooks'))).toBe(true);
    expect(readFileSync(join(workspace, '.git/config'), 'utf8')).toBe('');
    expect(existsSync(join(workspace, 'no'))).toBe(false);
  });

  it('follows no link, and makes nothing behind one', () => {
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), join(workspace, '.git'));
    symlinkSync(join(root, 'elsewhere'), join(workspace, 'link'));
    expect(protectedPlaces(workspace, ['.git/hooks/', 'link'])).toEqual([]);
    expect(existsSync(join(root, 'elsewhere/hooks'))).toBe(false);
  });
});

describe.runIf(canSandbox)('a sandbox', () => {
  /** Runs text in a sandbox of this workspace. */
  function run(text: string, protectedPaths: readonly string[]) {
    const directory = join(root, 'runtime');
    mkdirSync(join(directory, 'own'), { recursive: true });
    const program = execFileSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).trim();
    const options = {
      program,
      workspace,
      homes: [root],
      runtimeParent: directory,
      directory,
      hidden: [],
      sharesNetwork: false,
      unixSockets: false,
    };
    const sandbox = new Sandbox({ ...options, protectedPaths });
    const launch = { profile: 'workspace', env: {}, directory: join(directory, 'own'), cwd: workspace } as const;
    const [file = '', ...args] = sandbox.wrap({ ...launch, command: ['sh', '-c', text] });
    const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  beforeEach(() => {
    execFileSync('git', ['init', '-q', workspace]);
    rmSync(join(workspace, '.git/hooks'), { recursive: true, force: true });
  });
  const GIT = ['.git/hooks/', '.git/config', '.envrc'];

  it.each([
    ['a hook', 'echo x >.git/hooks/pre-commit'],
    ['the configuration', 'git config core.pager x'],
    ['the directory around them, renamed', 'mv .git other'],
    ['the directory itself, renamed', 'mv .git/hooks .git/other'],
    ['a link in the place of one', 'rm -r .git/hooks && ln -s /tmp .git/hooks'],
    ['a file that was not there', 'echo x >.envrc'],
  ])('keeps %s', (_, command) => {
    const before = readFileSync(join(workspace, '.git/config'), 'utf8');
    expect(run(command, GIT).status).not.toBe(0);
    expect(readFileSync(join(workspace, '.git/config'), 'utf8')).toBe(before);
    expect(existsSync(join(workspace, '.git/hooks/pre-commit'))).toBe(false);
    expect(readFileSync(join(workspace, '.envrc'), 'utf8')).toBe('');
  });

  it('lets git work all the same', () => {
    const commit = 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --format=%s';
    expect(run(`echo x >file && git add file && ${commit}`, GIT)).toMatchObject({ status: 0, stdout: 'one\n' });
  });

  it('gives `.git/commondir` a content that changes nothing for git, and keeps it', () => {
    const paths = [...GIT, '.git/commondir'];
    expect(run('git status --short && git rev-parse --git-common-dir', paths)).toMatchObject({ status: 0, stderr: '' });
    expect(run('echo ../evil >.git/commondir', paths).status).not.toBe(0);
    expect(readFileSync(join(workspace, '.git/commondir'), 'utf8')).toBe('.\n');
    const outside = execFileSync('git', ['status', '--short', '-uno'], { cwd: workspace, encoding: 'utf8' });
    expect(outside).toBe('');
  });

  it.each([
    ['a hook of a nested repository', 'echo x >lib/nested/.git/hooks/pre-commit'],
    ['the configuration of a nested repository', 'git -C lib/nested config core.pager x'],
    ['the directory of a nested repository, renamed', 'mv lib/nested other'],
    ['the link of a checkout to its repository', 'echo "gitdir: evil" >linked/.git'],
    ['the configuration of a submodule', 'echo x >.git/modules/group/part/config'],
    ['what leads a linked worktree to its repository', 'echo evil >.git/worktrees/linked/commondir'],
  ])('keeps %s', (_, command) => {
    execFileSync('git', ['init', '-q', join(workspace, 'lib/nested')]);
    execFileSync('git', ['init', '-q', '--bare', join(workspace, '.git/modules/group/part')]);
    mkdirSync(join(workspace, '.git/worktrees/linked'), { recursive: true });
    writeFileSync(join(workspace, '.git/worktrees/linked/commondir'), '../..\n');
    mkdirSync(join(workspace, 'linked'));
    writeFileSync(join(workspace, 'linked/.git'), 'gitdir: ../.git/worktrees/linked\n');
    expect(run(command, GIT).status).not.toBe(0);
  });

  it('gives up when a protected path is another one than was looked at', () => {
    const script = launchScript({ mounts: [workspace, join(workspace, 'a')], descriptors: undefined, cwd: undefined })!;
    mkdirSync(join(workspace, 'a'));
    const start = (from: string) => {
      const binds = ['--ro-bind', '/', '/', '--bind', workspace, workspace, '--bind', from, join(workspace, 'a')];
      return spawnSync('bwrap', [...binds, 'sh', '-c', script, 'sh', 'echo', 'begun'], { encoding: 'utf8' });
    };
    expect(start(join(workspace, 'a'))).toMatchObject({ status: 0, stdout: 'begun\n' });
    const replaced = start('/etc');
    expect(replaced).toMatchObject({ status: WRONG_MOUNT, stdout: '' });
    expect(replaced.stderr).toContain('was replaced');
  });
});

describe('isHeldHere', () => {
  it('finds a socket of this process, and nobody for one that is not there', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // Other descriptors may be closed while it looks, for which readlink has a code of its own.
    const links = execFileSync('sh', ['-c', `readlink /proc/${process.pid}/fd/*; :`], { encoding: 'utf8' });
    const [, inode = ''] = /socket:\[(\d+)\]/.exec(links) ?? [];
    const sockets = new PidNamespaceSockets();
    const answers = await Promise.all([sockets.holds(1), sockets.holds(Number(inode)), sockets.holds(1)]);
    expect(answers).toEqual([false, true, false]);
    server.close();
  });
});
