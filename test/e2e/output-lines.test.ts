import { expect } from 'vitest';

import { daemonTest } from '../support/daemon-test.js';
import { eventually } from '../support/measure.js';
import { residentBytes } from '../support/processes.js';

const it = daemonTest({ settings: { adapter: { max_line_length: 5000 } } });

it('gives the first and last lines, with the number of all', async ({ client }) => {
  const output = { begin_lines: 2, end_lines: 1 };
  const result = await client.run('seq 100000; seq 3 >&2', undefined, { output });
  expect(result).toMatchObject({
    stdout: expect.stringMatching(
      /^1\n2\n\[\.\.\. 99,997 of 100,000 lines left out; read_output .*\]\n100000\n$/,
    ) as string,
    stdout_truncated: true,
    original_stdout_size: 588_895,
    original_stdout_lines: 100_000,
    stderr: '1\n2\n3\n',
    stderr_truncated: false,
    original_stderr_lines: 3,
  });
  const session = await client.openSession();
  expect(await client.run('seq 9', session, { output: { max_lines: 3 } })).toMatchObject({
    stdout: expect.stringMatching(/^1\n\[\.\.\. 6 of 9 lines left out; .*\]\n8\n9\n$/) as string,
  });
  // Beside it, the configured length of a line holds for all.
  const long = await client.run('head -c 6000 /dev/zero | tr "\\0" x', session);
  expect(long).toMatchObject({ stdout: `${'x'.repeat(5000)}…`, stdout_truncated: true, original_stdout_lines: 1 });
  const exact = await client.run('head -c 6000 /dev/zero', session, { output: { encoding: 'base64' } });
  expect(exact.stdout).toBe(Buffer.alloc(6000).toString('base64'));
});

it('takes huge outputs, and one huge line, in constant memory', async ({ client, daemon }) => {
  const output = { begin_lines: 1, end_lines: 2, max_line_length: 10 };
  const before = residentBytes(daemon.pid);
  const lines = await client.run('seq 30000000 | head -c 200000000; echo; echo last', undefined, { output });
  expect(lines.stdout).toMatch(/^1\n\[\.\.\. [\d,]+ of [\d,]+ lines left out; .*\]\n\d+\nlast\n$/);
  expect(lines).toMatchObject({ stdout_bytes: 200_000_006 });
  const line = await client.run('echo first; head -c 200000000 /dev/zero | tr "\\0" x; echo; echo last', undefined, {
    output: { max_line_length: 10 },
  });
  expect(line).toMatchObject({
    stdout: 'first\nxxxxxxxxxx…\nlast\n',
    original_stdout_lines: 3,
    original_stdout_size: 200_000_012,
  });
  await eventually(() => {
    expect(residentBytes(daemon.pid) - before).toBeLessThan(96 * 1024 * 1024);
  });
});

it.for<[object, string]>([
  [{ max_lines: 3, begin_lines: 2, end_lines: 2 }, 'begin_lines + end_lines (4) is more than max_lines (3)'],
  [{ max_line_length: 9, encoding: 'base64' }, 'max_line_length would change the exact bytes'],
  [{ max_line_length: 0 }, 'max_line_length'],
  [{ end_lines: -1 }, 'end_lines'],
])('refuses %j', async ([output, message], { client }) => {
  expect(await client.request('execute_command', { command: 'ls', output })).toMatchObject({
    error: { code: 'INVALID_REQUEST', message: expect.stringContaining(message) as string },
  });
});
