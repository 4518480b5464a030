import type { PolicyVerdict } from '../../core/policy/decision/policy.js';
import { contentOf, realPathOf } from '../../engine/system/local-files.js';
import { changedPlace } from './failures.js';

/** Most paths that are compared. */
const MAX_PATHS = 256;

/**
 * What the paths of a command mean when its confirmation is requested: the approval is for these files. A link that leads
 * elsewhere by then, or a script with other content, is another command.
 */
export class Surroundings {
  readonly #places: ReadonlyMap<string, string>;
  readonly #scripts: ReadonlyMap<string, string>;

  constructor({ paths, scripts }: Pick<PolicyVerdict, 'paths' | 'scripts'>) {
    this.#places = new Map(paths.slice(0, MAX_PATHS).map((path) => [path, realPathOf(path)]));
    this.#scripts = new Map(scripts.slice(0, MAX_PATHS).map((path) => [path, contentOf(path)]));
  }

  /** Describes a path that leads elsewhere now, or a script that has changed; undefined when there is none. */
  findChange(): string | undefined {
    for (const [path, place] of this.#places) {
      const now = realPathOf(path);
      if (now !== place) return `${path} led to ${place} and leads to ${now} now`;
    }
    for (const [path, content] of this.#scripts) {
      if (contentOf(path) !== content) return `the script ${path} has changed`;
    }
    return undefined;
  }

  /** @throws AdapterError CONFIRMATION_MISMATCH when `findChange` finds one */
  assertUnchanged(): void {
    const change = this.findChange();
    if (change !== undefined) throw changedPlace(change);
  }
}
