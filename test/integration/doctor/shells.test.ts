import { dirname } from 'node:path';

import { expect, it } from 'vitest';

import { examineShells } from '../../../src/doctor/engine.js';
import { findShell, installedShells } from '../../../src/engine/shells/list.js';

const PATH = process.env['PATH'] ?? '';

it('says which shells are there, and that pwsh is untested, whether it is there or not', async () => {
  const findings = await examineShells({ env: { PATH }, defaultShell: 'bash' });
  const { path } = findShell('bash', PATH);
  expect(findings.find(({ name }) => name === 'bash')).toMatchObject({
    status: 'ok',
    detail: expect.stringMatching(`^${path}, `) as string,
  });
  const isInstalled = installedShells(PATH).some(({ shell }) => shell.name === 'pwsh');
  expect(findings.find(({ name }) => name === 'pwsh')).toMatchObject({
    status: isInstalled ? 'warn' : 'ok',
    detail: expect.stringContaining('untested') as string,
  });
});

it('misses the default shell, and no other one', async () => {
  const findings = await examineShells({ env: { PATH: '/nowhere' }, defaultShell: 'zsh' });
  expect(findings.filter(({ status }) => status === 'missing').map(({ name }) => name)).toEqual(['zsh']);
  const { path } = findShell('sh', PATH);
  const atPath = await examineShells({ env: { PATH: dirname('/nowhere/x') }, defaultShell: path });
  expect(atPath.at(-1)).toEqual({ name: 'adapter.shell', status: 'ok', detail: path });
});
