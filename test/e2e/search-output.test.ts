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

it('reads lines: from one, the last ones, cut ones, and goes on where it stopped', async ({ client }) => {
  const { command_id } = await client.run('printf "one\\ntwo\\n\\nfour is längér\\nfive"; seq 200000 >&2');
  const lines = async (request: object) => {
    const { data, ...rest } = await client.request('read_output', { command_id, ...request });
    return { ...rest, text: data.toString() };
  };
  expect(await lines({ from_line: 2, max_lines: 2 })).toEqual({
    text: 'two\n\n',
    offset: 4,
    from_line: 2,
    lines: 2,
    clipped_lines: 0,
    next_offset: 9,
    size: 30,
    eof: false,
  });
  expect(await lines({ last_lines: 2 })).toMatchObject({
    text: 'four is längér\nfive',
    from_line: 4,
    offset: 9,
    eof: true,
  });
  expect(await lines({ last_lines: 99 })).toMatchObject({ from_line: 1, lines: 5, offset: 0 });
  expect(await lines({ offset: 9, from_line: 2 })).toMatchObject({ text: 'five', from_line: 2, offset: 26 });
  expect(await lines({ from_line: 9 })).toMatchObject({ text: '', lines: 0, offset: 30, eof: true });
  expect(await lines({ from_line: 4, max_line_length: 10 })).toMatchObject({
    text: 'four is lä…\nfive',
    clipped_lines: 1,
    next_offset: 30,
  });
  // As many whole lines as fit; one that does not fit is cut, and comes in parts.
  expect(await lines({ from_line: 1, length: 8 })).toMatchObject({ text: 'one\ntwo\n', lines: 2, next_offset: 8 });
  expect(await lines({ from_line: 4, length: 6 })).toMatchObject({ text: 'four i', lines: 1, next_offset: 15 });
  const stderr = { stream: 'stderr' };
  expect(await lines({ ...stderr, from_line: 150_000, max_lines: 1 })).toMatchObject({ text: '150000\n' });
  expect(await lines({ ...stderr, last_lines: 2 })).toMatchObject({ text: '199999\n200000\n', from_line: 199_999 });
  const found = await client.request('search_output', { command_id, stream: 'stderr', pattern: '77777' });
  const line = found.matches[0]?.line ?? 0;
  expect(await lines({ ...stderr, from_line: line, max_lines: 1 })).toMatchObject({ text: '77777\n', from_line: line });
  expect(await client.request('read_output', { command_id, from_line: 1, last_lines: 1 })).toMatchObject({
    error: { code: 'INVALID_REQUEST', message: expect.stringContaining('give no from_line') as string },
  });
  expect(await client.request('read_output', { command_id, from_line: 0 })).toHaveProperty('error');
});
