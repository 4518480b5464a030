import { expect, it } from 'vitest';
import { messageOf } from './message-of.js';

import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

/** For thousands of payloads, on a machine that does much else. */
const THOUSANDS_TIMEOUT_MS = 300_000;

it(
  'a message about a wrong payload never has words of the schema library, whatever is wrong',
  () => {
    const junk = [undefined, null, 0, -1, 1.5, 1e99, '', 'x', true, [], [1], {}, { a: 1 }, new Uint8Array(1)];
    const messages = (Object.keys(requests) as RequestName[]).flatMap((name) => {
      const fields = Object.keys(requests[name].input.shape);
      return junk.flatMap((value) => [
        messageOf(name, value),
        ...fields.map((field) => messageOf(name, { [field]: value })),
      ]);
    });
    const foreign = /invalid|expected|received|too (?:small|big)|undefined|NaN/i;
    // Names of fields are those of the request.
    expect(messages.filter((message) => foreign.test(message.replaceAll(/\bexpected_\w+/g, '')))).toEqual([]);
  },
  THOUSANDS_TIMEOUT_MS,
);
