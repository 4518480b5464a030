import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { PNG } from 'pngjs';
import { expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';
import { MAIN } from '../../support/daemon.js';
import type { WireClient } from '../../support/wire.js';

const it = daemonTest();

/** Reads the screen of a session until it shows a text. */
async function shows(client: WireClient, id: string, text: string) {
  let screen = await client.request('read_screen', { session_id: id });
  await expect
    .poll(
      async () => {
        screen = await client.request('read_screen', { session_id: id });
        return screen.text;
      },
      { timeout: 20_000 },
    )
    .toContain(text);
  return screen;
}

const start = (client: WireClient, id: string, command: string) =>
  client.request('execute_command', { session_id: id, command, tty: true, background: true });

it('shows what a full-screen program shows, and drives it by keys', async ({ client }) => {
  const id = await client.openSession({ cols: 60, rows: 12 });
  await client.run('printf "one\\ntwo\\nthree\\n" > list.txt', id);
  await start(client, id, 'vim -u NONE -N -n list.txt');
  expect(await shows(client, id, 'list.txt')).toMatchObject({
    rows: 12,
    cols: 60,
    alternate: true,
    running: true,
    cursor: { row: 1, col: 1 },
  });
  await client.request('send_input', { session_id: id, keys: ['Down', 'End'], data: '' });
  await client.request('send_input', { session_id: id, data: 'a', keys: ['!', 'Escape', 'C-l'] });
  expect((await shows(client, id, 'two!')).cursor).toEqual({ row: 2, col: 4 });
  await client.request('send_input', { session_id: id, data: ':q!', keys: ['Enter'] });
  await client.event('command_finished');
  await client.request('close_session', { session_id: id });
});

it('gives the look of each character, and the last screen of an ended command', async ({ client }) => {
  const id = await client.openSession({ cols: 20, rows: 4 });
  const text = String.raw`\033[1;31mred\033[0m \033[48;2;1;2;3m漢\033[0m\033[3;1H\033[7mx`;
  await client.request('execute_command', { session_id: id, command: `printf '${text}'`, tty: true });
  const screen = await client.request('read_screen', { session_id: id, cells: true });
  expect(screen).toMatchObject({ text: 'red 漢\n\nx', running: false, alternate: false, cursor: { row: 3, col: 2 } });
  const [first = []] = screen.cells ?? [];
  expect(first).toHaveLength(20);
  expect(first[0]).toEqual({ text: 'r', width: 1, fg: 1, bold: true });
  expect(first.slice(4, 6)).toEqual([
    { text: '漢', width: 2, bg: '#010203' },
    { text: '', width: 0, bg: '#010203' },
  ]);
  expect(screen.cells?.[2]?.[0]).toEqual({ text: 'x', width: 1, inverse: true });
  await client.request('close_session', { session_id: id });
});

it('follows a new size, and output that came since the last look', async ({ client }) => {
  const id = await client.openSession({ cols: 30, rows: 5 });
  const loop = 'while :; do read -t 0 && read -r line && echo "got $line"; sleep 0.05; done';
  await start(client, id, `bash -c 'trap "stty size" WINCH; echo ready; ${loop}'`);
  await shows(client, id, 'ready');
  await client.request('resize_terminal', { session_id: id, cols: 50, rows: 10 });
  expect(await shows(client, id, '10 50')).toMatchObject({ rows: 10, cols: 50 });
  await client.request('send_input', { session_id: id, keys: ['h', 'i', 'Enter'] });
  await shows(client, id, 'got hi');
  await client.request('close_session', { session_id: id });
});

it('tells programs that asked for it of cursor keys in application mode', async ({ client }) => {
  const id = await client.openSession();
  await start(client, id, String.raw`printf '\033[?1h'; stty raw -echo; echo ready; head -c 3 | od -c; stty sane`);
  await shows(client, id, 'ready');
  await client.request('send_input', { session_id: id, keys: ['Up'] });
  await shows(client, id, '033   O   A');
  await client.request('close_session', { session_id: id });
});

it('says what was wrong, and what would be right', async ({ client }) => {
  const id = await client.openSession();
  await client.run('echo no terminal', id);
  expect(await client.request('read_screen', { session_id: id })).toMatchObject({
    error: { code: 'NO_RUNNING_COMMAND', message: expect.stringContaining('`tty: true`') as string },
  });
  await start(client, id, 'cat');
  for (const [request, message] of [
    [{ keys: ['Upp'] }, /there is no key "Upp"/],
    [{ keys: ['Up'], offset: 3 }, /no bytes and no offset/],
    [{ keys: [''] }, /keys/],
  ] as const) {
    const answer = await client.request('send_input', { session_id: id, ...request, keys: [...request.keys] });
    expect(answer).toMatchObject({
      error: { code: 'INVALID_REQUEST', message: expect.stringMatching(message) as string },
    });
  }
  expect(await client.request('read_screen', { session_id: 'session_none' })).toHaveProperty('error');
  await client.request('close_session', { session_id: id });
});

it('is shown by the command line, as text or as a picture', async ({ client, daemon }) => {
  const id = await client.openSession({ cols: 20, rows: 3 });
  await client.request('execute_command', { session_id: id, command: String.raw`printf '\033[32mgreen'`, tty: true });
  const screenshot = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [MAIN, 'screenshot', id, '--url', daemon.url, ...args], {
      cwd: daemon.workspace,
    });
  expect((await screenshot()).stdout).toBe('green\n');
  expect(JSON.parse((await screenshot('--json')).stdout)).toMatchObject({ text: 'green', cursor: { row: 1, col: 6 } });
  await screenshot('-o', 'shot.svg');
  expect(readFileSync(join(daemon.workspace, 'shot.svg'), 'utf8')).toMatch(/^<svg [^]*fill="#3fb950">green<\/text>/);
  await screenshot('-o', 'shot.png');
  const { width, height, data } = PNG.sync.read(readFileSync(join(daemon.workspace, 'shot.png')));
  // 20 columns of 8.4 and 3 rows of 18 pixels, with a margin of 12, at twice the size.
  expect({ width, height }).toEqual({ width: 384, height: 156 });
  const greenAt = ({ columns: [from, to], row }: { columns: readonly [number, number]; row: number }) => {
    let count = 0;
    for (let y = Math.floor((12 + row * 18) * 2); y < (12 + (row + 1) * 18) * 2; y++) {
      for (let x = Math.floor((12 + from * 8.4) * 2); x < (12 + to * 8.4) * 2; x++) {
        const [red = 0, green = 0, blue = 0] = data.subarray((y * width + x) * 4);
        if (green > 120 && green > red + 40 && green > blue + 40) count += 1;
      }
    }
    return count;
  };
  for (const column of [0, 1, 2, 3, 4]) {
    expect(greenAt({ columns: [column, column + 1], row: 0 })).toBeGreaterThan(20);
  }
  expect(greenAt({ columns: [6, 20], row: 0 })).toBe(0);
  expect(greenAt({ columns: [0, 20], row: 1 })).toBe(0);
  await expect(screenshot('-o', 'shot.jpg')).rejects.toMatchObject({
    stderr: expect.stringContaining('.svg') as string,
  });
  await expect(screenshot('-o', 'none/shot.svg')).rejects.toMatchObject({
    stderr: expect.stringContaining('ENOENT') as string,
  });
  await client.request('close_session', { session_id: id });
});
