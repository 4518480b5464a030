import { AdapterError } from '../../../../src/core/errors.js';
import { parsePayload } from '../../../../src/core/protocol/problems.js';
import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

/** What is said about a payload, without the name of the request; `accepted` when nothing is wrong with it. */
export const messageOf = (name: RequestName, payload: unknown): string => {
  try {
    parsePayload(requests[name].input, name, payload);
  } catch (error) {
    if (error instanceof AdapterError) return error.message.slice(name.length + 2);
    throw error;
  }
  return 'accepted';
};
