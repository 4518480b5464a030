import { expect } from 'vitest';

import { daemonTest } from '../support/daemon-test.js';
import { WireClient } from '../support/wire.js';

const it = daemonTest();

/** Lines of the large output; about 45 MB. */
const LINES = 600_000;

it('finds lines of either stream, with their offsets and numbers', async ({ client }) => {
  const { command_id } = await client.run('printf "one\\nTwo\\nthree\\ntwo"; echo broken >&2');
  const answer = await client.request('search_output', { command_id, pattern: 'two', ignore_case: true });
  expect(answer).toEqual({
    matches: [
      { offset: 4, line: 2, text: 'Two' },
      { offset: 14, line: 4, text: 'two' },
    ],
    scanned_to: 14,
    lines: 3,
    complete: true,
  });
  const { data } = await client.request('read_output', { command_id, offset: 4, length: 3 });
  expect(data.toString()).toBe('Two');
  const errors = await client.request('search_output', {
    command_id,
    stream: 'stderr',
    pattern: '^b.*n$',
    regex: true,
  });
  expect(errors.matches).toEqual([{ offset: 0, line: 1, text: 'broken' }]);
  const rest = await client.request('search_output', { command_id, pattern: 'th', from_offset: 8 });
  expect(rest).toMatchObject({ matches: [{ offset: 8, line: 1, text: 'three' }] });
});

it('searches a large output in several calls that miss nothing, while others are answered', async ({ client }) => {
  const line = `seq -f 'line %.0f of an output that is longer than what a model is shown, by far' ${LINES}`;
  const { command_id } = await client.run(line);
  const found: number[] = [];
  let [from_offset, before, calls, isComplete] = [0, 0, 0, false];
  while (!isComplete) {
    const asked = client.request('search_output', {
      command_id,
      pattern: 'e \\d*99999 ',
      regex: true,
      from_offset,
      limit: 2,
    });
    expect((await client.request('get_session', { session_id: 'none' })).error?.code).toBe('SESSION_NOT_FOUND');
    const answer = await asked;
    expect(answer.error).toBeUndefined();
    expect(answer.complete || answer.scanned_to > from_offset).toBe(true);
    found.push(...answer.matches.map(({ line: number }) => before + number));
    [from_offset, before, isComplete] = [answer.scanned_to, before + answer.lines, answer.complete];
    calls += 1;
  }
  expect(found).toEqual([99_999, 199_999, 299_999, 399_999, 499_999, 599_999]);
  expect(calls).toBeGreaterThanOrEqual(3);
  expect(before).toBe(LINES);
});

it('searches what a running command has printed', async ({ client }) => {
  const session = await client.openSession();
  const command = await client.run('echo first; printf "Password: "; read -r x', session, {
    background: true,
    stream: true,
  });
  await client.until(() => {
    const text = client
      .all('command_output')
      .map(({ data }) => data.toString())
      .join('');
    return text.includes('Password') ? true : undefined;
  });
  const { command_id } = command;
  const answer = await client.request('search_output', { command_id, pattern: 'Pass' });
  expect(answer).toEqual({
    matches: [{ offset: 6, line: 2, text: 'Password: ' }],
    scanned_to: 6,
    lines: 1,
    complete: true,
  });
  await client.request('close_session', { session_id: session });
});

it('refuses what it cannot search', async ({ client, daemon }) => {
  const { command_id } = await client.run('echo mine');
  expect((await client.request('search_output', { command_id, pattern: '(', regex: true })).error).toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringMatching(/^`pattern` is no regular expression of RE2/) as string,
    details: { field: 'pattern' },
  });
  expect((await client.request('search_output', { command_id, pattern: 'x'.repeat(257) })).error?.code).toBe(
    'INVALID_REQUEST',
  );
  expect((await client.request('search_output', { command_id: 'none', pattern: 'x' })).error?.code).toBe(
    'COMMAND_NOT_FOUND',
  );
  await using other = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('agent', 'other'),
  });
  expect((await other.request('search_output', { command_id, pattern: 'x' })).error?.code).toBe('COMMAND_NOT_FOUND');
});
