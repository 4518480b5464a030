import { expect, test } from 'vitest';

import { runCampaign } from '../campaign/campaign.js';
import { asText } from '../campaign/corpus.js';
import { CAMPAIGN_MS, MARGIN_MS } from '../campaign/settings.js';
import { checkPolicy } from './properties.js';
import { policyTexts } from './texts.js';

test(
  'policy: no text throws, takes long, or is judged more mildly for a wrapping',
  async () => {
    expect(
      await runCampaign({ name: 'policy', form: asText, inputs: policyTexts(), check: checkPolicy }),
    ).toBeGreaterThan(0);
  },
  CAMPAIGN_MS + MARGIN_MS,
);
