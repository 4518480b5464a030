import { expect } from 'vitest';

import { type PolicyVerdict, PRESET_NAMES, type PresetName } from '../../../src/core/policy/policy.js';
import { COMMAND_CLASSES, POLICY_ACTIONS } from '../../../src/core/policy/model.js';
import { verdictOn } from '../../unit/core/policy/support.js';
import { noOpsAround } from './no-ops.js';

/** Far above what any text takes, so that only one that hangs the policy fails. In milliseconds. */
const MOST_MS = 1000;

/** Throws where the policy fails on a text: it throws, hangs, changes its mind, or is misled by something without effect. */
export function checkPolicy(text: string): void {
  const start = performance.now();
  const verdict = verdictOn(text);
  expect(performance.now() - start, 'time for a verdict, in milliseconds').toBeLessThan(MOST_MS);
  expect(POLICY_ACTIONS).toContain(verdict.action);
  expect(COMMAND_CLASSES).toContain(verdict.class);
  expect(verdictOn(text), 'the second verdict').toEqual(verdict);
  const bare = Object.fromEntries(PRESET_NAMES.map((preset) => [preset, verdictOn(text, {}, { preset })]));
  for (const wrapped of noOpsAround(text))
    for (const preset of PRESET_NAMES) expectNoMilder(bare[preset]!, wrapped, preset);
}

const rank = ({ action }: PolicyVerdict): number => POLICY_ACTIONS.indexOf(action);

function expectNoMilder(bare: PolicyVerdict, wrapped: string, preset: PresetName): void {
  const verdict = verdictOn(wrapped, {}, { preset });
  // What can no longer be read, such as nesting beyond the limits, is a question at least.
  const least = verdict.class === 'obfuscated' ? Math.min(rank(bare), POLICY_ACTIONS.indexOf('confirm')) : rank(bare);
  if (rank(verdict) >= least) return;
  throw new Error(
    `${preset} judges ${JSON.stringify(wrapped)} as ${verdict.action} ${verdict.class}, without the wrapping as ${bare.action} ${bare.class}`,
  );
}
