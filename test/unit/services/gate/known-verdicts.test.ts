import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { type Policy, PRESETS } from '../../../../src/core/policy/policy.js';
import { factsOfFreshShell } from '../../../../src/core/policy/model.js';
import { KnownVerdicts } from '../../../../src/services/gate/gate.js';

const POLICY: Policy = { actions: PRESETS.balanced, rules: [] };
const FACTS = factsOfFreshShell('/work/space');

describe('KnownVerdicts', () => {
  it('gives the same verdict again for a text and its facts', () => {
    const verdicts = new KnownVerdicts();
    const first = verdicts.decide(POLICY, { command: 'uptime' }, FACTS);
    expect(verdicts.decide(POLICY, { command: 'uptime' }, FACTS)).toBe(first);
    expect(first.action).toBe('allow');
  });

  it('decides again with other facts', () => {
    const verdicts = new KnownVerdicts();
    expect(verdicts.decide(POLICY, { command: 'll' }, FACTS).class).not.toBe('destructive');
    const facts = { ...FACTS, aliases: new Map([['ll', 'rm -rf /']]) };
    expect(verdicts.decide(POLICY, { command: 'll' }, facts).action).toBe('deny');
  });

  it('decides again with another policy', () => {
    const verdicts = new KnownVerdicts();
    expect(verdicts.decide(POLICY, { command: 'uptime' }, FACTS).action).toBe('allow');
    const strict: Policy = { actions: { ...PRESETS.balanced, read: 'confirm' }, rules: [] };
    expect(verdicts.decide(strict, { command: 'uptime' }, FACTS).action).toBe('confirm');
    expect(verdicts.decide(POLICY, { command: 'uptime' }, FACTS).action).toBe('allow');
  });

  it('decides on arguments, variables and input each time', () => {
    const verdicts = new KnownVerdicts();
    expect(verdicts.decide(POLICY, { command: 'sh' }, FACTS).action).toBe('allow');
    expect(verdicts.decide(POLICY, { command: 'sh', stdin: 'rm -rf /' }, FACTS).action).toBe('deny');
    expect(verdicts.decide(POLICY, { command: 'sh', args: ['-c', 'rm -rf /'] }, FACTS).action).toBe('deny');
    expect(verdicts.decide(POLICY, { command: 'sh', env: { LD_PRELOAD: '/tmp/x.so' } }, FACTS).action).not.toBe(
      'allow',
    );
  });

  it('looks at files each time', () => {
    const workspace = mkdtempSync(join(tmpdir(), 'known-verdicts-'));
    try {
      const facts = factsOfFreshShell(workspace, { secretPaths: ['/etc/secret-place'] });
      const verdicts = new KnownVerdicts();
      writeFileSync(join(workspace, 'a'), 'text');
      expect(verdicts.decide(POLICY, { command: 'cat a' }, facts).action).toBe('allow');
      rmSync(join(workspace, 'a'));
      symlinkSync('/etc/shadow', join(workspace, 'a'));
      expect(verdicts.decide(POLICY, { command: 'cat a' }, facts).action).not.toBe('allow');
    } finally {
      rmSync(workspace, { recursive: true });
    }
  });

  it('keeps verdicts of some texts only', () => {
    const verdicts = new KnownVerdicts();
    const first = verdicts.decide(POLICY, { command: 'echo 0' }, FACTS);
    for (let number = 1; number <= 32; number += 1) verdicts.decide(POLICY, { command: `echo ${number}` }, FACTS);
    expect(verdicts.decide(POLICY, { command: 'echo 0' }, FACTS)).not.toBe(first);
    const long = `echo ${'x'.repeat(1_000)}`;
    expect(verdicts.decide(POLICY, { command: long }, FACTS)).not.toBe(
      verdicts.decide(POLICY, { command: long }, FACTS),
    );
  });
});
