import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { loadConfiguration } from '../../../../src/config/read/load.js';
import { BARE_ENV, CWD } from '../support.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shell-adapter-models-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function models(text: string | undefined) {
  if (text !== undefined) writeFileSync(join(folder, 'models.json'), text);
  const file = join(folder, 'adapter.yaml');
  writeFileSync(
    file,
    `llm:\n  models_file: ${text === undefined ? 'missing.json' : 'models.json'}\n  shell_providers:\n    mine: {}\n`,
  );
  return loadConfiguration({ file, env: { ...BARE_ENV, ROOT: '/srv' }, cwd: CWD }).llm.models;
}

describe('models.json', () => {
  it('names models, each a tool in a repository', () => {
    const written = {
      a: { driver: 'codex', repoPath: '/repo' },
      b: {
        driver: 'mine',
        repoPath: '${ROOT}/x',
        agentFile: 'B.md',
        agentFileMode: 'auto',
        worktree: true,
        model: 'm',
        timeout: 1.5,
        normalizer: 'full',
      },
      c: { driver: 'qwen', repoPath: 'below', access: 'write' },
    };
    expect(models(JSON.stringify(written))).toEqual({
      a: {
        driver: 'codex',
        repoPath: '/repo',
        agentFile: 'AGENTS.md',
        agentFileMode: 'prepend',
        worktree: false,
        model: undefined,
        access: undefined,
        timeoutMs: undefined,
        normalizer: 'auto',
      },
      b: {
        driver: 'mine',
        repoPath: '/srv/x',
        agentFile: 'B.md',
        agentFileMode: 'auto',
        worktree: true,
        model: 'm',
        access: undefined,
        timeoutMs: 1500,
        normalizer: 'full',
      },
      c: expect.objectContaining({ repoPath: join(folder, 'below'), access: 'write' }) as unknown,
    });
  });

  it.each([
    ['no file', undefined, 'missing.json: llm.models_file: cannot be read'],
    ['no JSON', '{ "a": ', 'models.json:1'],
    ['a list', '[1]', 'must be a mapping'],
    ['a model that is none', '{\n  "a": 5 }', 'models.json:2:8: a: must be an object with driver and repoPath'],
    ['no driver', '{ "a": { "repoPath": "/" } }', 'a.driver: must be the name of a shell provider'],
    [
      'an unknown driver',
      '{ "a": {\n "driver": "none", "repoPath": "/" } }',
      'models.json:2:12: a.driver: there is no shell provider "none"; there are mine, claude',
    ],
    [
      'an unknown key',
      '{ "a": { "driver": "codex",\n  "repoPth": "/" } }',
      'models.json:2:3: a.repoPth: there is no such key; there are driver, repoPath',
    ],
    [
      'a wrong mode',
      '{ "a": { "driver": "codex", "repoPath": "/", "normalizer": "best" } }',
      'must be one of auto, structured, last_block, full',
    ],
    [
      'a time that is none',
      '{ "a": { "driver": "codex", "repoPath": "/", "timeout": 0 } }',
      'a.timeout: must be a number of seconds above 0',
    ],
    [
      'access that is none',
      '{ "a": { "driver": "codex", "repoPath": "/", "access": "all" } }',
      'a.access: must be one of read, write, full',
    ],
    [
      'access of a tool that cannot be told',
      '{ "a": { "driver": "mine", "repoPath": "/",\n "access": "write" } }',
      'models.json:2:12: a.access: write cannot be granted to mine: no driver knows its options; write them into llm.shell_providers.mine',
    ],
    ['an unset variable', '{ "a": { "driver": "codex", "repoPath": "${NOT_SET}" } }', 'NOT_SET'],
    ['a name twice', '{ "a": {}, "a": {} }', 'twice'],
  ])('%s is said with its place', (_, text, message) => {
    expect(() => models(text)).toThrow(message);
  });
});
