import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

const RULES = fileURLToPath(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url));
const CASES = fileURLToPath(new URL('alert-cases.yml', import.meta.url));

const promtool = (...args: readonly string[]) => spawnSync('promtool', [...args], { encoding: 'utf8' });

describe.skipIf(promtool('--version').error !== undefined)('the alert rules (needs promtool)', () => {
  it.each([
    ['are valid', ['check', 'rules', RULES]],
    ['fire when they should, and not before', ['test', 'rules', CASES]],
  ])('%s', (_, args) => {
    const { status, stdout, stderr } = promtool(...args);
    expect(status, stdout + stderr).toBe(0);
  });
});
