import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { makeTree, removeTree, type TreeSpec } from '../../../support/tree.js';
import { CheckpointBench } from './bench.js';

const noise = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 7919) % 251));

const everyByte = Buffer.from(Uint8Array.from({ length: 256 }, (_, index) => index));

/** Trees that have to come back exactly, by what is special about them. */
const TREES: readonly (readonly [what: string, spec: TreeSpec])[] = [
  ['nothing at all', {}],
  ['plain files', { 'a.txt': 'one\n', 'b/c.txt': 'two\n', 'b/d/e.txt': 'three' }],
  ['any bytes', { 'all.bin': everyByte, 'crlf.txt': 'a\r\nb\rc\n', empty: '', nul: '\0\0' }],
  ['a file of more than one piece', { 'large.bin': noise(3 * 1024 * 1024 + 17) }],
  ['a file that git does not keep differences of', { 'huge.bin': noise(17 * 1024 * 1024) }],
  [
    'attributes that would change the bytes',
    {
      '.gitattributes':
        '* text=auto eol=crlf ident\n*.utf16 text working-tree-encoding=UTF-16\n*.x filter=evil diff=evil merge=evil\n',
      'a.txt': 'unix\nlines\n',
      'b.txt': 'dos\r\nlines\r\n',
      'id.c': '/* $Id$ */\n/* $Id: 0123456789012345678901234567890123456789 $ */\n',
      'c.utf16': Buffer.from('\ufeffwide\r\n', 'utf16le'),
      'd.x': 'filtered?\n',
      'sub/.gitattributes': '* -text binary export-ignore export-subst\n',
      'sub/f': '$Format:%H$\n',
    },
  ],
  [
    'ignored files',
    {
      '.gitignore': '*\n!.gitignore\n',
      '.env': 'SECRET=1\n',
      'node_modules/m/index.js': 'x\n',
      'node_modules/.bin/': '',
    },
  ],
  [
    'odd names',
    {
      'new\nline': '1',
      'tab\tquote"back\\slash\'': '2',
      ' blank ': '3',
      '-rf': '4',
      '--': '5',
      'caf\xe9 not utf-8 \xff\xfe': '6',
      'caf\xc3\xa9': '7',
      '*': '8',
      ':(top)x': '9',
      'a..b/..c/...': '10',
      '\x01\x7f': '11',
      '@{-1}': '12',
    },
  ],
  [
    'names that could pass for .git elsewhere',
    {
      '.GIT/config': '1',
      '.Git': '2',
      'git~1/x': '3',
      '.git./x': '4',
      '.git \u00b7': '5',
      '.gitmodules': { link: 'x' },
    },
  ],
  ['names that sort unlike their directories', { a: '1', 'a.b': '2', 'a-b/c': '3', 'b/a': '4', b0: '5', 'b.c/d': '6' }],
  ['empty directories', { 'e/': '', 'f/g/h/': '', 'f/i': 'x' }],
  [
    'permissions',
    {
      private: { mode: 0o600, content: 's' },
      'run.sh': { mode: 0o755, content: '#!/bin/sh\n' },
      'group-run': { mode: 0o710, content: 'x' },
      'read-only': { mode: 0o444, content: 'r' },
      setuid: { mode: 0o4755, content: 'u' },
      'shut/inner': 'i',
      'shut/': { mode: 0o500 },
      'sticky/': { mode: 0o1777 },
      'own/': { mode: 0o700 },
    },
  ],
  [
    'links',
    {
      dangling: { link: 'nowhere/at all' },
      out: { link: '/etc' },
      up: { link: '../../../..' },
      'to-file': { link: 'target' },
      target: 't',
      'dir/inner': 'i',
      'to-dir': { link: 'dir' },
      'odd-target': { link: 'x\n\xff' },
    },
  ],
  ['a deep tree', { [`${'d/'.repeat(300)}f`]: 'deep' }],
];

/** What may have happened to the workspace. */
const DAMAGES: readonly (readonly [what: string, damage: (workspace: string) => void])[] = [
  [
    'everything in it was removed',
    (workspace) => {
      for (const name of readdirSync(Buffer.from(workspace), 'buffer')) {
        removeTree(Buffer.concat([Buffer.from(`${workspace}/`), name]));
      }
    },
  ],
  [
    'it was removed itself',
    (workspace) => {
      removeTree(workspace);
    },
  ],
  [
    'everything in it was replaced',
    (workspace) => {
      removeTree(workspace);
      makeTree(workspace, {
        a: { link: '/tmp' },
        'b/c.txt/x': '',
        f: { mode: 0o600, content: 'f' },
        'target/': '',
        n: 'new',
      });
    },
  ],
];

describe('what was saved', () => {
  it.each(TREES)(
    '%s: comes back exactly, whatever has happened, and so does what was there in between',
    async (_, spec) => {
      using bench = new CheckpointBench(spec);
      const saved = bench.tree;
      const { id } = await bench.save();
      const undo: { readonly id: string; readonly tree: Record<string, string> }[] = [];
      for (const [what, damage] of DAMAGES) {
        damage(bench.workspace);
        const damaged = existsSync(bench.workspace) ? bench.tree : {};
        const { undoCheckpoint } = await bench.restore(id);
        expect(bench.tree, what).toEqual(saved);
        undo.push({ id: undoCheckpoint.id, tree: damaged });
      }
      expect(await bench.changes(id)).toEqual([]);
      const last = undo.at(-1)!;
      await bench.restore(last.id);
      expect(bench.tree).toEqual(last.tree);
    },
  );
});

describe('repositories in the workspace', () => {
  const git = (cwd: string, ...args: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', GIT_ALLOW_PROTOCOL: 'file' };
    const who = ['-c', 'user.name=x', '-c', 'user.email=x@localhost', '-c', 'protocol.file.allow=always'];
    return execFileSync('git', [...who, ...args], { cwd, env, stdio: 'pipe' }).toString();
  };

  /** Every file of a directory with its times: whatever is touched shows. */
  const fingerprint = (directory: string): string[] =>
    (readdirSync(directory, { recursive: true }) as string[]).toSorted().map((name) => {
      const { mtimeMs, ctimeMs, size, mode } = lstatSync(join(directory, name));
      return `${name} ${mtimeMs} ${ctimeMs} ${size} ${mode}`;
    });

  it('the user’s repository is neither saved nor touched, and nothing of its configuration runs', async () => {
    using bench = new CheckpointBench({ 'a.txt': 'one\n', '.gitattributes': '* filter=evil diff=evil\n' });
    const { workspace } = bench;
    git(workspace, 'init', '-q');
    git(workspace, 'add', '-A');
    git(workspace, 'commit', '-qm', 'first');
    writeFileSync(join(workspace, 'staged.txt'), 'in the index only\n');
    git(workspace, 'add', 'staged.txt');
    const trap = join(bench.folder, 'trap');
    const evil = `sh -c 'echo sprung >> ${trap}; cat'`;
    for (const [key, value] of [
      ['filter.evil.clean', evil],
      ['filter.evil.smudge', evil],
      ['filter.evil.required', 'true'],
      ['diff.evil.textconv', evil],
      ['diff.evil.command', evil],
      ['core.fsmonitor', evil],
      ['core.hooksPath', join(bench.folder, 'hooks')],
    ] as const) {
      git(workspace, 'config', key, value);
    }
    for (const hook of ['post-checkout', 'pre-commit', 'post-index-change', 'reference-transaction']) {
      for (const place of [join(workspace, '.git/hooks'), join(bench.folder, 'hooks')]) {
        mkdirSync(place, { recursive: true });
        writeFileSync(join(place, hook), `#!/bin/sh\necho sprung >> ${trap}\n`);
        chmodSync(join(place, hook), 0o755);
      }
    }
    const before = fingerprint(join(workspace, '.git'));
    const { id, skipped } = await bench.save();
    expect(skipped.shown).toEqual([{ path: '.git', reason: 'git_directory' }]);
    writeFileSync(join(workspace, 'a.txt'), 'two\n');
    rmSync(join(workspace, 'staged.txt'));
    expect(await bench.changes(id)).toEqual(['modified a.txt', 'deleted staged.txt']);
    expect((await bench.diff(id, { format: 'patch' })).patch?.text).toContain('-one\n+two\n');
    const { restored, skipped: left } = await bench.restore(id);
    expect(restored.shown).toEqual(['a.txt', 'staged.txt']);
    expect(left.count).toBe(0);
    expect(fingerprint(join(workspace, '.git'))).toEqual(before);
    expect(readdirSync(bench.folder)).not.toContain('trap');
  });

  it('a repository that was removed is told to be gone', async () => {
    using bench = new CheckpointBench({ 'a.txt': 'one\n' });
    git(bench.workspace, 'init', '-q');
    const { id } = await bench.save();
    rmSync(join(bench.workspace, '.git'), { recursive: true });
    const { skipped } = await bench.restore(id);
    expect(skipped.shown).toEqual([{ path: '.git', reason: 'git_directory' }]);
  });

  it('files of nested repositories and submodules are saved, with what is not committed there', async () => {
    using bench = new CheckpointBench({ 'nested/tracked.txt': '1', 'nested/untracked/deep.txt': '2' });
    const { workspace } = bench;
    const origin = join(bench.folder, 'origin');
    makeTree(origin, { 'lib.c': 'int x;\n' });
    git(origin, 'init', '-q');
    git(origin, 'add', '-A');
    git(origin, 'commit', '-qm', 'lib');
    git(workspace, 'init', '-q');
    git(join(workspace, 'nested'), 'init', '-q');
    git(join(workspace, 'nested'), 'add', 'tracked.txt');
    git(workspace, 'submodule', '--quiet', 'add', origin, 'vendor/lib');
    writeFileSync(join(workspace, 'vendor/lib/local.c'), 'mine\n');
    const before = bench.tree;
    const { id, skipped } = await bench.save();
    const paths = skipped.shown.map(({ path }) => path);
    expect(paths).toEqual(['.git', 'nested/.git', 'vendor/lib/.git']);
    rmSync(join(workspace, 'nested/tracked.txt'));
    rmSync(join(workspace, 'nested/untracked'), { recursive: true });
    rmSync(join(workspace, 'vendor/lib/local.c'));
    rmSync(join(workspace, 'vendor/lib/lib.c'));
    await bench.restore(id);
    expect(bench.tree).toEqual(before);
    expect(git(workspace, 'status', '--porcelain', '--ignore-submodules=none')).toContain('vendor/lib');
  });

  it('a repository that came later stays, in a directory that therefore stays too', async () => {
    using bench = new CheckpointBench({ 'a.txt': 'one\n' });
    const { id } = await bench.save();
    makeTree(join(bench.workspace, 'clone'), { 'x.c': 'x' });
    git(join(bench.workspace, 'clone'), 'init', '-q');
    const { removed, skipped } = await bench.restore(id);
    expect(removed.shown).toEqual(['clone/x.c']);
    expect(skipped.shown).toEqual([{ path: 'clone/.git', reason: 'git_directory' }]);
    expect(readdirSync(join(bench.workspace, 'clone'))).toEqual(['.git']);
  });
});
