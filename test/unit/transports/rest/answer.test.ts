import { describe, expect, it } from 'vitest';

import { answerOf } from '../../../../src/transports/rest/answer.js';

describe('answerOf', () => {
  it.each([
    ['an answer', { session_id: 's' }, 200, true],
    ['an error after which something may have been done', { error: { code: 'INTERNAL', message: '' } }, 500, true],
    ['an error that stays', { error: { code: 'COMMAND_DENIED', message: '' } }, 403, true],
    ['an error that passes', { error: { code: 'SHUTTING_DOWN', message: '' } }, 503, false],
  ] as const)('%s: status and whether it is final', (_, reply, status, isFinal) => {
    expect(answerOf(reply)).toMatchObject({ status, isFinal, reply, isRepeated: false, text: JSON.stringify(reply) });
  });
});
