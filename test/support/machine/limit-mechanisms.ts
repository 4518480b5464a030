import { LIMIT_MECHANISM_NAMES, type LimitMechanismName } from '../../../src/core/limits.js';
import { linux } from '../../../src/engine/platform/linux/linux.js';
import { chooseMechanism } from '../../../src/engine/limits/probe.js';
import { ROOT_MARK } from '../root.js';

/** Why a mechanism cannot be tested here; undefined when it can. */
function reasonAgainst(name: LimitMechanismName): string | undefined {
  try {
    const options = { instance: `probe-${process.pid}`, path: process.env['PATH'] ?? '', platform: linux };
    chooseMechanism(name, options).mechanism[Symbol.dispose]();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What is tested of the control groups needs root, as a rule. */
const markOf = (name: LimitMechanismName): string => (name.startsWith('cgroup') ? `${name} ${ROOT_MARK}` : name);

/** All mechanisms, each with a title that says whether it needs root, and when and why it is skipped. */
export const MECHANISMS = LIMIT_MECHANISM_NAMES.map((name) => {
  const reason = reasonAgainst(name);
  const title = reason === undefined ? markOf(name) : `${markOf(name)} [skipped: ${reason}]`;
  return { name, isUsable: reason === undefined, title };
});
