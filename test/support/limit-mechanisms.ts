import { LIMIT_MECHANISM_NAMES, type LimitMechanismName } from '../../src/core/limits/limits.js';
import { chooseMechanism } from '../../src/engine/limits/probe.js';

/** Why a mechanism cannot be tested here; undefined when it can. */
function reasonAgainst(name: LimitMechanismName): string | undefined {
  try {
    const options = { instance: `probe-${process.pid}`, path: process.env['PATH'] ?? '' };
    chooseMechanism(name, options).mechanism[Symbol.dispose]();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** All mechanisms, each with a title that says when and why it is skipped. */
export const MECHANISMS = LIMIT_MECHANISM_NAMES.map((name) => {
  const reason = reasonAgainst(name);
  return { name, isUsable: reason === undefined, title: reason === undefined ? name : `${name} [skipped: ${reason}]` };
});
