import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../../src/config/read/load.js';
import { ConfigurationError } from '../../../../src/config/model/problems.js';
import { ensureWorkspace } from '../../../../src/config/derive.js';
import { BARE_ENV, makeDirectory } from '../../../unit/config/support.js';

const configurationFor = (directory: string) =>
  loadConfiguration({ env: BARE_ENV, cwd: '/', overrides: { adapter: { workspace_directory: directory } } });

const isRoot = process.getuid?.() === 0;

describe('the workspace directory', () => {
  it('is created with those above it, for all to enter', async () => {
    const directory = join(makeDirectory(), 'a/b');
    const umask = process.umask(0o022);
    await ensureWorkspace(configurationFor(directory)).finally(() => process.umask(umask));
    expect(statSync(directory).mode & 0o777).toBe(0o755);
  });

  it('that is there is left as it is', async () => {
    const directory = makeDirectory();
    chmodSync(directory, 0o700);
    await ensureWorkspace(configurationFor(directory));
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['is a file', (base: string) => base, /EEXIST|ENOTDIR/],
    ['lies below a file', (base: string) => join(base, 'x'), /EEXIST|ENOTDIR/],
    ['cannot be created', () => '/proc/nowhere', /ENOENT/],
  ])('that %s is a configuration error', async (_name, place, code) => {
    const file = join(makeDirectory(), 'file');
    writeFileSync(file, '');
    const directory = place(file);
    const error: unknown = await ensureWorkspace(configurationFor(directory)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toContain(
      `adapter.workspace_directory: the workspace directory ${JSON.stringify(directory)} cannot be used`,
    );
    expect(String(error)).toMatch(code);
  });

  it.skipIf(isRoot)('that may not be entered is a configuration error', async () => {
    const directory = makeDirectory();
    chmodSync(directory, 0);
    await expect(ensureWorkspace(configurationFor(directory))).rejects.toThrow('EACCES');
  });
});
