import { expect, it } from 'vitest';

import { AdapterError } from '../../../../src/core/errors.js';
import { parsePayload } from '../../../../src/core/protocol/problems.js';
import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

/** For thousands of payloads, on a machine that does much else. */
const THOUSANDS_TIMEOUT_MS = 60_000;

const messageOf = (name: RequestName, payload: unknown): string => {
  try {
    parsePayload(requests[name].input, name, payload);
  } catch (error) {
    if (error instanceof AdapterError) return error.message.slice(name.length + 2);
    throw error;
  }
  return 'accepted';
};

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
