import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
    expect(findConfigurationFile({ flag: 'flag.yaml', env, cwd: directoryWithConfig() })?.file).toMatch(
      /\/flag\.yaml$/,
    );
  });

  it('is what SHELL_ADAPTER_CONFIG says, without a flag', () => {
    const env = { SHELL_ADAPTER_CONFIG: 'env.yaml' };
    expect(findConfigurationFile({ env, cwd: '/start' })).toEqual({ file: '/start/env.yaml' });
  });

  it.each([{}, { SHELL_ADAPTER_CONFIG: '' }])('is the one below the current directory, with %j', (env) => {
    const cwd = directoryWithConfig();
    expect(findConfigurationFile({ env, cwd })).toEqual({ file: join(cwd, 'config/shell_adapter.yaml') });
  });

  it("is the package's own when there is no other, and its paths are relative to the current directory", () => {
    const cwd = makeDirectory();
    const source = findConfigurationFile({ env: {}, cwd });
    expect(source).toEqual({ file: PACKAGED, baseDirectory: cwd });
    expect(loadConfiguration({ ...source, env: BARE_ENV, cwd }).adapter.workspaceDirectory).toBe(cwd);
  });

  it('in a folder named config has paths relative to the folder above', () => {
    const cwd = directoryWithConfig();
    const source = findConfigurationFile({ env: {}, cwd });
    const { adapter } = loadConfiguration({ ...source, env: BARE_ENV, cwd: '/elsewhere' });
    expect(adapter.workspaceDirectory).toBe(join(cwd, 'w'));
  });
});
