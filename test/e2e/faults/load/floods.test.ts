import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RequestInput } from '../../../../src/core/protocol/requests.js';
import { TestDaemon } from '../../../support/daemon.js';
import { HANG_MS } from '../../../support/hang.js';
import { MIB, observe, percentile } from '../../../support/measure.js';
import { rounds } from '../../../support/rounds.js';
import { WireClient } from '../../../support/wire.js';

/** Most that the daemon may grow by, in bytes, and longest wait of an echo beside the flood, in milliseconds. */
const MAX_GROWTH = 64 * MIB;
const MAX_ECHO_MS = HANG_MS;
/** Of the samples: a machine that is busy with something else delays some, which says nothing of the daemon. */
const SHARE = 0.9;

let daemon: TestDaemon;
let client: WireClient;
let flooder: WireClient;

beforeAll(async () => {
  daemon = await TestDaemon.start();
  client = await WireClient.connect(daemon.url);
  flooder = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  await flooder[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

interface Flood {
  readonly name: string;
  readonly command: string;
  readonly options?: Partial<RequestInput<'execute_command'>>;
  readonly result: Readonly<Record<string, unknown>>;
}

const PYTHON_SPLIT =
  "import os\nfor n in range(2000):\n os.write(1, b'a\\xe2\\x82'); os.write(1, b'\\xac\\xff\\xf0\\x9f\\x98'); os.write(1, b'\\x80')";

const FLOODS: readonly Flood[] = [
  {
    name: 'endless output with a time-out',
    command: 'yes',
    options: { timeout_ms: 800 },
    result: { status: 'timed_out', exit_code: 124, stdout_truncated: true },
  },
  {
    name: 'endless streamed output with a time-out',
    command: 'yes',
    options: { timeout_ms: 800, stream: true },
    result: { status: 'timed_out', exit_code: 124, stdout_truncated: true },
  },
  {
    name: '100 MB of lines',
    command: 'yes 0123456789 | head -c 100000000',
    result: { exit_code: 0, stdout_bytes: 100_000_000, original_stdout_size: 100_000_000, lossy: false },
  },
  {
    name: '100 MB on stderr',
    command: 'yes 0123456789 | head -c 100000000 >&2',
    result: { exit_code: 0, stderr_bytes: 100_000_000, stdout_bytes: 0 },
  },
  {
    name: '100 MB without a newline',
    command: "head -c 100000000 /dev/zero | tr '\\0' x",
    result: { exit_code: 0, stdout_bytes: 100_000_000, original_stdout_size: 100_000_000, lossy: false },
  },
  {
    name: '50 MB of random bytes',
    command: 'head -c 50000000 /dev/urandom',
    result: { exit_code: 0, stdout_bytes: 50_000_000, lossy: true },
  },
  {
    name: '50 MB of NUL bytes',
    command: 'head -c 50000000 /dev/zero',
    result: { exit_code: 0, stdout_bytes: 50_000_000, original_stdout_size: 50_000_000, lossy: false },
  },
  {
    name: '100 MB on the terminal',
    command: 'stty -onlcr; yes 0123456789 | head -c 100000000',
    options: { tty: true },
    result: { exit_code: 0, stdout_bytes: 100_000_000 },
  },
];

describe('F17: floods of output', () => {
  it.each(FLOODS)('F17: $name: exact counts, flat memory, others served', async ({ command, options, result }) => {
    const [flooded, other] = [await flooder.openSession(), await client.openSession()];
    let answer: unknown;
    const { echoMs, growth } = await observe(client, other, daemon.pid, async () => {
      answer = await flooder.run(command, flooded, options);
    });
    expect(answer).toMatchObject(result);
    expect(growth).toBeLessThan(MAX_GROWTH);
    expect(percentile(echoMs, SHARE)).toBeLessThan(MAX_ECHO_MS);
    expect(await flooder.run('echo next', flooded)).toMatchObject({ stdout: 'next\n', session_state: 'alive' });
    await client.request('close_session', { session_id: flooded });
    await client.request('close_session', { session_id: other });
  });

  it.each([
    ['yes', { timeout_ms: 600 }, { status: 'timed_out', exit_code: 124 }],
    ['yes 0123456789 | head -c 100000000', {}, { exit_code: 0, stdout_bytes: 100_000_000 }],
  ] as const)('F17: one-shot %j likewise', async (command, options, result) => {
    const other = await client.openSession();
    let answer: unknown;
    const { echoMs, growth } = await observe(client, other, daemon.pid, async () => {
      answer = await flooder.run(command, undefined, options);
    });
    expect(answer).toMatchObject(result);
    expect(growth).toBeLessThan(MAX_GROWTH);
    expect(percentile(echoMs, SHARE)).toBeLessThan(MAX_ECHO_MS);
    await client.request('close_session', { session_id: other });
  });

  it('F17: invalid UTF-8 and characters split between writes: every byte counted, only the bad ones replaced', async () => {
    const id = await flooder.openSession();
    const result = await flooder.run('python3 -', id, { stdin: PYTHON_SPLIT, stream: true });
    const unit = 'a€\uFFFD😀';
    expect(result).toMatchObject({ exit_code: 0, stdout: unit.repeat(2000), stdout_bytes: 18_000, lossy: true });
    expect(result.original_stdout_size).toBe(2000 * 4);
    const pieces = flooder.all('command_output').filter(({ command_id }) => command_id === result.command_id);
    const bytes = Buffer.concat(pieces.map(({ data }) => Buffer.from(data as Uint8Array)));
    const expected = Buffer.from('61e282acfff09f9880'.repeat(2000), 'hex');
    expect(bytes.equals(expected)).toBe(true);
    await flooder.request('close_session', { session_id: id });
  });
});

describe('F19: output at the very end', () => {
  const TIMES = rounds(200);
  const SMALL = 20_000;
  const LARGE = 8 * MIB;
  const print = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x`;

  it('F19: 20 kB printed just before the end of a one-shot: nothing lost', async () => {
    for (let time = 0; time < TIMES; time += 1) {
      const { stdout, stdout_bytes } = await client.run(`${print(SMALL - 4)}; printf END.`);
      expect(stdout_bytes).toBe(SMALL);
      expect(stdout.endsWith('xEND.')).toBe(true);
    }
  });

  it('F19: 20 kB from a program without a shell: nothing lost', async () => {
    for (let time = 0; time < TIMES; time += 1) {
      const result = await client.run('head', undefined, { args: ['-c', String(SMALL), '/dev/zero'] });
      expect(result).toMatchObject({ exit_code: 0, stdout_bytes: SMALL });
    }
  });

  it.each([
    ['on pipes', {}],
    ['on the terminal', { tty: true }],
  ])('F19: 20 kB in a session %s: nothing lost', async (_, options) => {
    const id = await client.openSession();
    for (let time = 0; time < TIMES; time += 1) {
      const { stdout, stdout_bytes } = await client.run(`${print(SMALL - 4)}; printf END.`, id, options);
      expect(stdout_bytes).toBe(SMALL);
      expect(stdout.endsWith('xEND.')).toBe(true);
    }
    await client.request('close_session', { session_id: id });
  });

  it.each([
    ['exec on pipes', {}],
    ['exec on the terminal', { tty: true }],
  ])('F19: 20 kB printed as the last thing before the shell is gone (%s): nothing lost', async (_, options) => {
    const id = await client.openSession();
    for (let time = 0; time < TIMES / 10; time += 1) {
      const result = await client.run(`exec head -c ${SMALL} /dev/zero`, id, options);
      expect(result).toMatchObject({ exit_code: 0, stdout_bytes: SMALL, session_state: 'restarted' });
    }
    await client.request('close_session', { session_id: id });
  });

  it('F19: 8 MiB at the end: nothing lost', async () => {
    const id = await client.openSession();
    for (let time = 0; time < TIMES / 2; time += 1) {
      for (const session of [id, undefined]) {
        const { stdout, stdout_bytes } = await client.run(`head -c ${LARGE - 4} /dev/zero; printf END.`, session);
        expect(stdout_bytes).toBe(LARGE);
        expect(stdout.endsWith('\0END.')).toBe(true);
      }
    }
    await client.request('close_session', { session_id: id });
  });
});
