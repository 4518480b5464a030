import fc from 'fast-check';
import { expect, test } from 'vitest';

import { runCampaign } from '../campaign/campaign.js';
import { asJson, type Form } from '../campaign/corpus.js';
import { CAMPAIGN_MS, MARGIN_MS } from '../campaign/settings.js';
import { httpRequests } from './http-requests.js';
import { packets } from './packets.js';
import { fuzzedRequests } from './requests.js';
import { FuzzTarget, type Sent } from './target.js';

/** Most that is sent at once. */
const AT_ONCE = 16;

/** JSON in which bytes stay bytes. */
const asRequests: Form<readonly Sent[]> = {
  ...asJson<readonly Sent[]>(),
  read: (text) =>
    JSON.parse(text, (_, value: unknown) => {
      const { type, data } = (value ?? {}) as { type?: unknown; data?: number[] };
      return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data) : value;
    }) as readonly Sent[],
};

const anything: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 16, arbitrary: fuzzedRequests.map((request) => ({ kind: 'request' as const, request })) },
  { weight: 4, arbitrary: httpRequests.map((http) => ({ kind: 'http' as const, http })) },
  { weight: 1, arbitrary: packets.map((text) => ({ kind: 'packet' as const, text })) },
);

test(
  'protocol: nothing that is sent ends, blocks or confuses the daemon',
  async () => {
    await using target = await FuzzTarget.start();
    const inputs = fc.array(anything, { minLength: 1, maxLength: AT_ONCE });
    const check = (all: readonly Sent[]) => target.send(all);
    expect(await runCampaign({ name: 'protocol', form: asRequests, inputs, check })).toBeGreaterThan(0);
  },
  CAMPAIGN_MS + MARGIN_MS,
);
