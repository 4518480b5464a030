import { expect, it } from 'vitest';

import { whyNotPlayed } from '../../../../src/dashboard/pages/recordings/recording-page.js';

it('plays what is not too large, and says what can be done with the rest', () => {
  expect(whyNotPlayed('recording_x', 96 * 1024 * 1024)).toBeUndefined();
  expect(whyNotPlayed('recording_x', 96 * 1024 * 1024 + 1)).toMatch(
    /^It has 96 MB.*"shell-adapter replay recording_x"/,
  );
});
