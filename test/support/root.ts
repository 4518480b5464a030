import { describe, it } from 'vitest';

/** Whether the tests run as root. */
export const isRoot = process.getuid?.() === 0;

/**
 * Mark in the titles of tests that need root. `scripts/test --root` runs the tests with this mark alone; CI does so after an ordinary
 * user has run the others.
 */
export const ROOT_MARK = '[root]';

/** `it` for a test that needs root and one thing more: its title is marked, and it is skipped where one of both is missing. */
export const itRootIf =
  (isPossible: boolean) =>
  (title: string, test: () => Promise<void> | void, timeoutMs?: number): void => {
    it.skipIf(!isRoot || !isPossible)(`${title} ${ROOT_MARK}`, test, timeoutMs);
  };

/** `it` for a test that needs root. */
export const itRoot = itRootIf(true);

/** `describe` for tests that need root and one thing more: the title is marked, and they are skipped where one of both is missing. */
export const describeRootIf =
  (isPossible: boolean) =>
  (title: string, suite: () => void): void => {
    describe.skipIf(!isRoot || !isPossible)(`${title} ${ROOT_MARK}`, suite);
  };

/** `describe` for tests that need root. */
export const describeRoot = describeRootIf(true);
