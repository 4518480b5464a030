import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect } from 'vitest';

import { TestDaemon } from '../support/daemon.js';
import { ROOT_MARK } from '../support/root.js';
import { canMount, Tmpfs } from '../support/machine/tmpfs.js';
import { WireClient } from '../support/wire.js';
import type { TrapContext } from './harness/context.js';
import { conformance } from './harness/runner.js';
import { run, type Trap } from './harness/table.js';
import { eventually } from '../support/measure.js';

/** The built program. */
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const LINES = 60;
const COUNTED = Array.from({ length: LINES }, (_, n) => `line ${n + 1}\n`).join('');
const COUNT = `for i in {1..${LINES}}; do echo "line $i"; sleep 0.02; done`;

/** Numbers of the output events that a client has got of a session. */
const numbersAt = (client: WireClient): number[] => client.all('command_output').map(({ seq }) => seq);
const textAt = (client: WireClient): string =>
  client
    .all('command_output')
    .map(({ data }) => Buffer.from(data as Uint8Array).toString())
    .join('');

const rising = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

/** Starts a command in a session of its own client, which leaves when `text` has come. */
async function leaveAfter(
  text: string,
  command: string,
  trap: TrapContext,
): Promise<{ readonly sessionId: string; readonly commandId: string; readonly left: WireClient }> {
  const left = await WireClient.connect(trap.url);
  const sessionId = await left.openSession();
  const commandId = trap.newCommandId();
  await left.run(command, sessionId, { stream: true, background: true, command_id: commandId });
  await left.until(() => (textAt(left).includes(text) ? true : undefined));
  await left[Symbol.asyncDispose]();
  return { sessionId, commandId, left };
}

const page: Trap[] = [
  {
    id: 'J1',
    title: 'a client comes back to a running command: what it missed comes once, in order',
    run: async (trap) => {
      const { sessionId, commandId, left } = await leaveAfter('line 9\n', COUNT, trap);
      await using back = await WireClient.connect(trap.url);
      const from_seq = numbersAt(left).length;
      const attached = await back.request('attach_session', { session_id: sessionId, from_seq });
      expect({ code: attached.error?.code, gap: attached.gap }).toEqual({ code: undefined, gap: null });
      const result = await back.request('wait_command', { command_id: commandId });
      expect(result).toMatchObject({ stdout: COUNTED, exit_code: 0, status: 'completed' });
      await back.until(() => (textAt(back).endsWith(`line ${LINES}\n`) ? true : undefined));
      expect(textAt(left) + textAt(back)).toBe(COUNTED);
      const numbers = [...numbersAt(left), ...numbersAt(back)];
      expect(numbers).toEqual(rising(0, numbers.length));
      await back.request('close_session', { session_id: sessionId });
    },
  },
  {
    id: 'J1b',
    title: 'what is no longer kept for a client that comes back is told as a gap',
    daemon: { settings: { adapter: { replay_kb: 2 } } },
    run: async (trap) => {
      const command = `echo go; for i in {1..${LINES}}; do printf '%0100d\\n' $i; sleep 0.02; done`;
      const { sessionId, commandId, left } = await leaveAfter('go\n', command, trap);
      await using back = await WireClient.connect(trap.url);
      const result = await back.request('wait_command', { command_id: commandId });
      expect(result.stdout_bytes).toBe(3 + LINES * 101);
      const from_seq = numbersAt(left).length;
      const attached = await back.request('attach_session', { session_id: sessionId, from_seq });
      const { gap, replayed, next_seq } = attached;
      expect(gap?.from_seq).toBe(from_seq);
      expect(numbersAt(back)).toEqual(rising((gap?.to_seq ?? 0) + 1, next_seq));
      expect(replayed).toBe(numbersAt(back).length);
      await back.request('close_session', { session_id: sessionId });
    },
  },
  {
    id: 'J3',
    title: 'two viewers get the same numbers',
    run: async (trap) => {
      await using viewer = await WireClient.connect(trap.url);
      await viewer.request('attach_session', { session_id: trap.sessionId });
      const result = await trap.run(`${COUNT}; echo e >&2; echo end`, { stream: true });
      expect(result.stdout).toBe(`${COUNTED}end\n`);
      for (const client of [trap.client, viewer])
        await client.until(() => (textAt(client).length >= COUNTED.length + 6 ? true : undefined));
      expect(viewer.all('command_output')).toEqual(trap.client.all('command_output'));
      expect(numbersAt(viewer)).toEqual(rising(0, numbersAt(viewer).length));
    },
  },
];

/** Configurations that are refused, and where. */
const REFUSED: Readonly<Record<string, { readonly text: string; readonly place: RegExp }>> = {
  'an unknown key': { text: 'adapter:\n  shel: bash\n', place: /bad\.yaml:2:3: adapter\.shel: unknown key/ },
  'a wrong type': { text: 'adapter:\n  max_sessions: many\n', place: /bad\.yaml:2:17: adapter\.max_sessions: / },
  'a negative limit': { text: 'adapter:\n  kill_grace: -1\n', place: /bad\.yaml:2:15: adapter\.kill_grace: / },
  'a tag of JavaScript': {
    text: 'adapter:\n  shell: !!js/function "function () {}"\n',
    place: /bad\.yaml:2:10: .*tag/,
  },
  'no YAML': { text: 'adapter:\n  - [\n', place: /bad\.yaml:3:1: / },
};

/** Runs `serve` with a configuration that it must refuse; gives its exit code and what it says. */
async function serveWith(file: string): Promise<{ readonly code: unknown; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [MAIN, 'serve', '--config', file, '--port', '0'],
      { timeout: 20_000 },
      (error, out, err) => {
        resolve({ code: error?.code ?? 0, said: out + err });
      },
    );
  });
}

const configuration: Trap[] = [
  ...Object.entries(REFUSED).map(([what, { text, place }], index): Trap => ({
    id: `J13${'abcde'[index]}`,
    title: `a configuration is refused at its place: ${what}`,
    isLocal: true,
    run: async (trap) => {
      const file = join(trap.directory, 'bad.yaml');
      writeFileSync(file, text);
      expect(await serveWith(file)).toEqual({ code: 1, said: expect.stringMatching(place) as string });
    },
  })),
  {
    id: 'J13f',
    title: 'a configuration that is not there is refused',
    isLocal: true,
    run: async (trap) => {
      const file = join(trap.directory, 'none.yaml');
      expect(await serveWith(file)).toEqual({ code: 1, said: expect.stringContaining(file) as string });
    },
  },
  {
    id: 'J13g',
    title: 'a bad configuration at SIGHUP leaves the old one in force',
    daemon: { settings: { adapter: { max_output_size: 50 } } },
    steps: [run('echo before', { stdout: 'before\n' })],
    run: async (trap) => {
      const daemon = trap.daemon as TestDaemon;
      writeFileSync(join(daemon.directory, 'config.yaml'), 'adapter:\n  max_output_size: -1\n');
      daemon.signal('SIGHUP');
      await eventually(() => {
        expect(daemon.output).toMatch(/config\.yaml:2:\d+: adapter\.max_output_size/);
      });
      const { original_stdout_size, stdout_truncated } = await trap.run('printf %0200d 0');
      expect({ original_stdout_size, stdout_truncated }).toEqual({ original_stdout_size: 200, stdout_truncated: true });
    },
  },
];

const surroundings: Trap[] = [
  {
    id: 'J15',
    title: 'a daemon with a strict umask, no locale and 256 descriptors serves 20 sessions',
    daemon: {
      launcher: ['sh', '-c', 'umask 077; ulimit -S -n 256; exec "$@"', 'sh'],
      env: { LC_ALL: 'C', LANG: 'C' },
    },
    run: async ({ client }) => {
      const sessions = await Promise.all(rising(0, 20).map(() => client.openSession()));
      for (let round = 0; round < 3; round += 1) {
        const results = await Promise.all(
          sessions.map((id, n) => client.run(`echo é${n}; x=漢; echo \${#x} >&2; (exit ${n})`, id)),
        );
        expect(results.map(({ stdout, stderr, exit_code }) => ({ stdout, stderr, exit_code }))).toEqual(
          sessions.map((_, n) => ({ stdout: `é${n}\n`, stderr: '1\n', exit_code: n })),
        );
      }
      await Promise.all(sessions.map((session_id) => client.request('close_session', { session_id })));
    },
  },
  {
    id: 'J15b',
    title: 'a daemon that may have no more than 256 descriptors opens what it can and refuses the rest',
    daemon: { launcher: ['sh', '-c', 'ulimit -n 256; exec "$@"', 'sh'] },
    run: async ({ client }) => {
      const answers = await Promise.all(rising(0, 40).map(() => client.request('open_session')));
      const refused = answers.flatMap(({ error }) => (error ? [error.code] : []));
      expect([...new Set(refused)]).toEqual(['RESOURCE_EXHAUSTED']);
      const opened = answers.flatMap(({ error, session_id }) => (error ? [] : [session_id]));
      expect(opened.length).toBeGreaterThanOrEqual(10);
      await client.request('close_session', { session_id: opened.pop() ?? '' });
      for (const id of opened) expect(await client.run('echo ok', id)).toMatchObject({ stdout: 'ok\n' });
      await Promise.all(opened.map((session_id) => client.request('close_session', { session_id })));
    },
  },
  {
    id: 'H15',
    title: `a full spool: the result comes and says so${canMount() ? '' : ' (needs the right to mount)'} ${ROOT_MARK}`,
    isLocal: true,
    run: async () => {
      if (!canMount()) return;
      using disk = new Tmpfs(1);
      await using daemon = await TestDaemon.start({ settings: { adapter: { state_directory: disk.path } } });
      await using client = await WireClient.connect(daemon.url);
      const session = await client.openSession();
      for (const id of [session, undefined]) {
        const result = await client.run('head -c 20000000 /dev/zero | tr "\\0" x; echo; echo END', id);
        expect(result).toMatchObject({
          exit_code: 0,
          stdout_bytes: 20_000_005,
          spool_error: expect.stringMatching(/space/i) as string,
        });
        expect(result.stdout).toMatch(/^x.*xEND\n$|^x[^]*END\n$/);
      }
      expect(await client.run('echo next', session)).toMatchObject({ stdout: 'next\n', session_state: 'alive' });
    },
  },
];

conformance('J. Connection', page);
conformance('J. Configuration', configuration);
conformance('J. Surroundings of the daemon', surroundings);
