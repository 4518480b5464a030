import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../../../src/config/read/load.js';
import { findConfigurationFile } from '../../../../src/config/read/locate.js';
import { BARE_ENV, makeDirectory } from '../support.js';

const PACKAGED = fileURLToPath(new URL('../../../../config/shell_adapter.yaml', import.meta.url));

function directoryWithConfig(): string {
  const directory = makeDirectory();
  mkdirSync(join(directory, 'config'));
  writeFileSync(join(directory, 'config/shell_adapter.yaml'), 'adapter: { workspace_directory: w }\n');
  return directory;
}

describe('the configuration file', () => {
  it('is what the flag says, first of all', () => {
    const env = { SHELL_ADAPTER_CONFIG: '/env.yaml' };
    expect(findConfigurationFile({ flag: 'flag.yaml', env, cwd: directoryWithConfig() }).file).toMatch(/\/flag\.yaml$/);
  });

  it('is what SHELL_ADAPTER_CONFIG says, without a flag', () => {
    const env = { SHELL_ADAPTER_CONFIG: 'env.yaml' };
    expect(findConfigurationFile({ env, cwd: '/start' })).toMatchObject({ file: '/start/env.yaml' });
  });

  it.each([
    ['XDG_CONFIG_HOME', (home: string) => ({ HOME: '/nowhere', XDG_CONFIG_HOME: home })],
    ['the home directory', (home: string) => ({ HOME: home })],
    ['the home directory, for a relative XDG_CONFIG_HOME', (home: string) => ({ HOME: home, XDG_CONFIG_HOME: '.' })],
  ])("is the user's own below %s, before one of the current directory", (_where, environmentFor) => {
    const home = makeDirectory();
    const env = environmentFor(home);
    const file = join(env.HOME === home ? join(home, '.config') : home, 'shell-adapter/config.yaml');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    expect(findConfigurationFile({ env, cwd: directoryWithConfig() }).file).toBe(file);
  });

  it.each([{}, { SHELL_ADAPTER_CONFIG: '' }])(
    'is not one that merely lies in the current directory, with %j',
    (env) => {
      const cwd = directoryWithConfig();
      const source = findConfigurationFile({ env: { ...env, HOME: makeDirectory() }, cwd });
      expect(source).toMatchObject({ file: PACKAGED, untrusted: join(realpathSync(cwd), 'config/shell_adapter.yaml') });
    },
  );

  it("is the package's own when there is no other, and sessions start in the current directory", () => {
    const cwd = makeDirectory();
    const source = findConfigurationFile({ env: { HOME: makeDirectory() }, cwd });
    expect(source).toEqual({ file: PACKAGED, why: 'the shipped file' });
    expect(loadConfiguration({ ...source, env: BARE_ENV, cwd }).adapter.workspaceDirectory).toBe(cwd);
  });

  it("is the package's own in a clone, which needs no trust", () => {
    const cwd = fileURLToPath(new URL('../../../../', import.meta.url));
    expect(findConfigurationFile({ env: { HOME: makeDirectory() }, cwd })).toEqual({
      file: PACKAGED,
      why: 'the shipped file',
    });
  });

  it('in a folder named config has paths relative to the folder above', () => {
    const cwd = directoryWithConfig();
    const file = join(cwd, 'config/shell_adapter.yaml');
    expect(loadConfiguration({ file, env: BARE_ENV, cwd: '/elsewhere' }).adapter.workspaceDirectory).toBe(
      join(cwd, 'w'),
    );
  });
});

describe('the list of trusted files', () => {
  const listWith = (mode: number, content = { files: [] as object[] }) => {
    const HOME = makeDirectory();
    const list = join(HOME, '.local/state/shell-adapter/trusted-configurations.json');
    mkdirSync(dirname(list), { recursive: true });
    writeFileSync(list, JSON.stringify(content));
    chmodSync(list, mode);
    return { HOME };
  };

  it('uses the content that was compared with the trusted one, whatever the file has become', () => {
    const cwd = realpathSync(directoryWithConfig());
    const file = join(cwd, 'config/shell_adapter.yaml');
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
    const env = listWith(0o600, { files: [{ file, sha256, trusted_at: '' }] });
    const source = findConfigurationFile({ env, cwd });
    expect(source.file).toBe(file);
    writeFileSync(file, 'adapter: { workspace_directory: /evil }');
    expect(loadConfiguration({ ...source, env, cwd }).adapter.workspaceDirectory).toBe(join(cwd, 'w'));
    expect(() => findConfigurationFile({ env, cwd })).toThrow(/has changed since you trusted it.*config trust/);
  });

  it.each([
    ['other users can change', listWith, 0o622, undefined],
    ['is damaged', listWith, 0o600, { files: [{ file: 1 }] }],
  ])('is not used when it %s', (_what, make, mode, content) => {
    const search = { env: make(mode, content), cwd: directoryWithConfig() };
    expect(() => findConfigurationFile(search)).toThrow(/is no list of trusted files.*Remove it/);
  });
});
