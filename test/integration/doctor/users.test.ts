import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { examineUsers } from '../../../src/doctor/engine.js';
import { TokenFiles } from '../../../src/services/access/token-files.js';
import { itRoot } from '../../support/root.js';

let stateDirectory: string;
let tokens: TokenFiles;

beforeEach(() => {
  stateDirectory = mkdtempSync(join(tmpdir(), 'shell-adapter-doctor-'));
  tokens = new TokenFiles(stateDirectory);
});

afterEach(() => {
  rmSync(stateDirectory, { recursive: true });
});

const create = (name: string, runAs?: string) => tokens.create({ name, role: 'agent', lifeMs: undefined, runAs });
const examine = (options: { readonly path?: string; readonly isRoot?: boolean } = {}) =>
  examineUsers({ stateDirectory, path: process.env['PATH'] ?? '', ...options });

it('says nothing about users where no token has one', async () => {
  expect(await examine()).toEqual([]);
  create('plain');
  expect(await examine({ isRoot: false })).toEqual([]);
});

it('says that only root can start programs of other users', async () => {
  create('one', 'alice');
  create('two', 'alice');
  expect(await examine({ isRoot: false })).toEqual([
    {
      name: 'run_as',
      status: 'warn',
      detail: 'tokens of alice are refused: the daemon is not root',
      fix: 'run the daemon as root, or revoke these tokens',
    },
  ]);
});

it('says which users are gone, or root, and what is not installed', async () => {
  create('one', 'no-such-user');
  create('two', 'root');
  create('three', 'nobody');
  const findings = await examine({ isRoot: true, path: '/none' });
  expect(findings.map(({ status, detail }) => `${status}: ${detail}`)).toEqual([
    'warn: nothing can be started as no-such-user: this machine has no such user',
    'warn: nothing can be started as nobody: bash is not installed, or not on PATH',
    'warn: nothing can be started as root: it is root, as is the daemon',
  ]);
});

itRoot('says as which users programs can be started', async () => {
  create('one', 'nobody');
  const [finding] = await examine();
  expect(finding).toEqual({ name: 'run_as', status: 'ok', detail: 'programs can be started as nobody' });
});
