import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseCast } from '../../../src/core/recording.js';
import { TestDaemon } from '../../support/daemon.js';
import { callCli } from '../cli/in-process.js';
import { CliTerminal, makeFolder, urlVariable } from '../cli/support.js';
import { missing, Screen } from '../terminal/tmux.js';
import { dataOf } from './support.js';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const cli = (args: readonly string[]) => callCli(args, { env: urlVariable(daemon), cwd: daemon.directory });

describe('the command line', () => {
  it('records a shell, and lists, plays, saves and deletes the recording', async () => {
    const file = join(daemon.directory, `deploy-${randomUUID()}.cast`);
    const env = { ...urlVariable(daemon), PS1: 'ready> ' };
    await using terminal = new CliTerminal(['record', '--shell', 'sh', '--title', 'how to', file], { env });
    await terminal.until(/[#$>] $/u);
    terminal.type("printf 'a%sb\\n' - ; read -r x\r");
    await terminal.until(/a-b/u);
    terminal.type('shown\r');
    terminal.type('stty -echo; printf "a%sc\\n" -; read -r x; stty echo; printf "a%sd\\n" -\r');
    await terminal.until(/a-c/u);
    terminal.type('hunter2-hidden\r');
    await terminal.until(/a-d/u);
    terminal.type('exit 3\r');
    expect(await terminal.ended).toBe(3);
    const [id = ''] = /recording_[\w-]{22}/u.exec(terminal.output) ?? [];
    expect(terminal.output).toContain(`saved to ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain('hunter2');
    expect(dataOf(parseCast(text), 'i')).toContain('***');
    expect(parseCast(text).header).toMatchObject({ title: 'how to', width: 100, height: 30 });

    expect((await cli(['recordings', '--save', id])).stdout).toBe(text);
    expect((await cli(['recordings'])).stdout).toMatch(new RegExp(`^${id}  local  .*  complete  how to$`, 'mu'));
    for (const source of [id, file]) {
      const played = await cli(['replay', source, '--speed', '1000', '--idle', '0']);
      expect(played).toMatchObject({ code: 0, stdout: dataOf(parseCast(text), 'o') });
    }
    await using player = new CliTerminal(['replay', file, '--speed', '0.1'], { env });
    await player.until(/sh -i/u);
    player.type('q');
    expect(await player.ended).toBe(0);

    expect(await cli(['recordings', '--delete', id])).toMatchObject({ code: 2 });
    expect(await cli(['recordings', '--delete', id, '--yes'])).toMatchObject({ code: 0, stdout: `deleted ${id}\n` });
    expect((await cli(['recordings', '--json'])).stdout).toContain('"recordings": []');
    const gone = await cli(['replay', id]);
    expect(gone).toMatchObject({ code: 1 });
    expect(gone.stderr).toContain(`there is no recording ${id}`);
  });

  it('says what was wrong, and what would be right', async () => {
    using folder = makeFolder();
    const file = join(folder.path, 'missing.cast');
    const [missing, wrong, noTerminal] = await Promise.all([
      cli(['replay', file]),
      cli(['replay', join(daemon.directory, 'config.yaml')]),
      cli(['record', file]),
    ]);
    expect(missing.stderr).toContain('neither the id of a recording nor a file');
    expect(wrong.stderr).toContain('line 1 is not the header of an asciicast file of version 2');
    expect(noTerminal).toMatchObject({ code: 2 });
    expect(noTerminal.stderr).toContain('record needs a terminal');
    expect(existsSync(file)).toBe(false);
  });
});

describe.skipIf(missing('tmux'))('a replay on a terminal (needs tmux)', () => {
  /** What vim and less switch on, and text in the middle of their screen. */
  const IN_PROGRAM =
    '\x1b[?1049h\x1b[?1h\x1b=\x1b[?25l\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?6h\x1b[4h\x1b[3;9r\x1b[5;5Hin vim';

  function recording(folder: string, events: readonly (readonly [seconds: number, output: string])[]): string {
    const file = join(folder, 'demo.cast');
    const lines = [{ version: 2, width: 100, height: 30 }, ...events.map(([at, output]) => [at, 'o', output])];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return file;
  }

  const MODES =
    '#{alternate_on}#{keypad_flag}#{keypad_cursor_flag}#{mouse_any_flag}#{insert_flag}#{origin_flag} #{cursor_flag}#{wrap_flag}';

  it.for([
    ['ends', []],
    ['is ended by q', ['q']],
    ['is ended by Ctrl-C', ['C-c']],
  ] as const)('gives the terminal back when it %s', async ([, keys]) => {
    using folder = makeFolder();
    const last = keys.length === 0 ? 0.2 : 900;
    const file = recording(folder.path, [
      [0, 'one\r\ntwo\r\nthree\r\n'],
      [0.1, IN_PROGRAM],
      [last, '!'],
    ]);
    using screen = new Screen(daemon.url, ['replay', file]);
    if (keys.length > 0) {
      await screen.until(/in vim/);
      screen.press(...keys);
    }
    await screen.until(/^three\n[^]*\n\[exit 0\]\n*$/);
    expect(screen.text.trimEnd().split('\n').length).toBe(29);
    expect(screen.format(MODES)).toBe('000000 11');
  });

  it('moves by arrow keys in either mode', async () => {
    using folder = makeFolder();
    const file = recording(folder.path, [
      [0, '\x1b[?1happlication'],
      [4, '\x1b[?1l normal'],
      [8, ' end'],
      [900, ''],
    ]);
    using screen = new Screen(daemon.url, ['replay', file, '--speed', '0.1']);
    await screen.until(/application/);
    screen.press('Right');
    await screen.until(/normal/);
    screen.press('Right');
    await screen.until(/end/);
    screen.press('q');
    await screen.until(/\[exit 0\]/);
  });
});
