import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { credentialPaths, credentialPatterns } from '../../../../src/engine/sandbox/sandbox.js';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'shell-adapter-home-'));
});

afterEach(() => {
  rmSync(home, { recursive: true });
});

const make = (...paths: string[]) => {
  for (const path of paths) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), 'secret');
  }
};

/** The paths found in the home directory, relative to it. */
const found = (workspace = '/srv/workspace') =>
  credentialPaths(credentialPatterns([home], workspace))
    .filter((path) => path.startsWith(`${home}/`))
    .map((path) => path.slice(home.length + 1));

describe('the credentials that a sandbox hides', () => {
  it('are files and whole directories', () => {
    make('.ssh/id_rsa', '.config/op/config', '.claude/.credentials.json', '.claude/settings.json', '.netrc');
    expect(found()).toEqual(expect.arrayContaining(['.ssh', '.config/op', '.claude/.credentials.json', '.netrc']));
    expect(found()).not.toContain('.claude/settings.json');
  });

  it('are found by patterns of names', () => {
    make('.config/Bitwarden CLI/data.json', '.env', '.env.local', '.env.example', 'site.pem', 'notes.txt');
    const paths = found();
    expect(paths).toEqual(expect.arrayContaining(['.config/Bitwarden CLI', '.env', '.env.local', 'site.pem']));
    expect(paths).not.toContain('.env.example');
    expect(paths).not.toContain('notes.txt');
  });

  it('leave the files of a workspace in a home directory to its programs', () => {
    make('.env', '.netrc');
    expect(found(home)).not.toContain('.env');
    expect(found(join(home, 'project'))).not.toContain('.env');
    expect(found(home)).toContain('.netrc');
  });
});
