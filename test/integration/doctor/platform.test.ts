import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { examinePlatform } from '../../../src/doctor/engine.js';
import { choosePlatform } from '../../../src/engine/platform/choose-platform.js';

describe('ps, which measures processes on the platform posix', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'doctor-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const findPs = (platform: 'posix' | 'linux') =>
    examinePlatform(choosePlatform(platform), undefined, folder).find(({ name }) => name === 'ps');

  it('is warned of when it is not on the PATH of the daemon', () => {
    expect(findPs('posix')).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining(`not on PATH (${folder})`) as string,
      fix: expect.stringContaining('procps') as string,
    });
  });

  it('is found there', () => {
    symlinkSync('/bin/sh', join(folder, 'ps'));
    expect(findPs('posix')).toMatchObject({ status: 'ok', detail: expect.stringContaining(`${folder}/ps`) as string });
  });

  it('is not needed on Linux', () => {
    expect(findPs('linux')).toBeUndefined();
  });
});
