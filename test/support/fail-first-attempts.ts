import { afterEach } from 'vitest';

/** What vitest runs before each test file when FAIL_FIRST_ATTEMPTS is set: a test that cannot be repeated is found. */
afterEach(({ task }) => {
  if (task.result?.state !== 'fail' && (task.result?.retryCount ?? 0) === 0)
    throw new Error('the first attempt of each test fails: FAIL_FIRST_ATTEMPTS is set');
});
