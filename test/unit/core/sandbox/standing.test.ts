import { describe, expect, it } from 'vitest';

import { chooseProfile, resolveSandboxStatus } from '../../../../src/core/sandbox.js';

describe('standingOf', () => {
  it.each([
    ['none', {}, 'none', undefined],
    ['none', { workspace: 'no', strict: 'no' }, 'none', undefined],
    ['workspace', {}, 'workspace', undefined],
    ['workspace', { workspace: 'no' }, 'none', 'no'],
    ['strict', {}, 'strict', undefined],
    ['strict', { strict: 'no network namespace' }, 'workspace', 'no network namespace'],
    ['strict', { workspace: 'a', strict: 'b' }, 'none', 'b'],
  ] as const)('%s with %o is %s', (configured, problems, profile, reason) => {
    expect(resolveSandboxStatus(configured, problems)).toMatchObject({ configured, profile, reason });
  });

  it('lists what works, the least strict first', () => {
    expect(resolveSandboxStatus('none', { workspace: 'no' }).available).toEqual(['none', 'strict']);
  });
});

describe('chooseProfile', () => {
  const all = resolveSandboxStatus('workspace', {});
  it.each([
    [undefined, 'workspace'],
    ['workspace', 'workspace'],
    ['strict', 'strict'],
  ] as const)('gives for %s %s', (wanted, given) => {
    expect(chooseProfile(wanted, all)).toBe(given);
  });

  it.each([
    ['none', all, 'INVALID_REQUEST', 'allowed: workspace, strict'],
    ['workspace', resolveSandboxStatus('strict', {}), 'INVALID_REQUEST', 'allowed: strict'],
    ['strict', resolveSandboxStatus('workspace', { strict: 'no userns' }), 'SANDBOX_UNAVAILABLE', 'no userns'],
    [
      'workspace',
      resolveSandboxStatus('workspace', { workspace: 'not installed' }),
      'SANDBOX_UNAVAILABLE',
      'not installed',
    ],
  ] as const)('refuses %s', (wanted, standing, code, message) => {
    expect(() => chooseProfile(wanted, standing)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) as string }) as Error,
    );
  });

  it('gives none where a weaker sandbox than the configured one is used anyway', () => {
    expect(chooseProfile('none', resolveSandboxStatus('workspace', { workspace: 'no' }))).toBe('none');
  });
});
