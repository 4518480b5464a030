import { readFileSync } from 'node:fs';

import { array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Command } from '../../../../src/engine/command/command.js';
import { SpoolBudget } from '../../../../src/engine/output/spool.js';
import { findDefaultShell, findShell } from '../../../../src/engine/shells/list.js';
import { pwsh } from '../../../../src/engine/shells/pwsh.js';

const DRIVER = readFileSync(new URL('../../../../src/engine/shells/drivers/driver.ps1', import.meta.url), 'utf8');
const QUOTES = ["'", '\u2018', '\u2019', '\u201A', '\u201B'];

/**
 * Reads words of single-quoted text as PowerShell does: any of its five quotes ends the text, two of them stand for the
 * second. Source: about_Quoting_Rules, and ScanStringLiteral in tokenizer.cs of PowerShell.
 */
function readWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (word === undefined) {
      if (char === "'") word = '';
      else if (char !== ' ') throw new Error(`not quoted at ${at}: ${text}`);
    } else if (!QUOTES.includes(char)) word += char;
    else if (QUOTES.includes(text.charAt(at + 1))) {
      at += 1;
      word += text.charAt(at);
    } else {
      words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) throw new Error(`not closed: ${text}`);
  return words;
}

const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['nothing', ''],
  ['every character of a byte', Array.from({ length: 255 }, (_, code) => String.fromCharCode(code + 1)).join('')],
  ['each quote, alone, twice and at the end', QUOTES.map((each) => `${each} ${each}${each}a${each}`).join('')],
  ['quotes of different kinds beside each other', QUOTES.join('')],
  ['lines', 'a\nb\r\nc\r'],
  ['the ends of here-strings', '@\'\na\n\'@\n@"\nb\n"@'],
  ['what PowerShell would expand', '$x $(y) ${z} @(1) `n "a" --% # ; | & %'],
  ['characters of every length', 'aé漢😀\u0000'.slice(0, -1)],
];

describe('the quoting of PowerShell', () => {
  it.each(TEXTS)('keeps %s', (_what, text) => {
    expect(readWords(pwsh.quote(text))).toEqual([text]);
  });

  it('keeps any text, beside any other', () => {
    const letters = oneof(constantFrom(...QUOTES, ' ', '\n', '$', '`'), string({ unit: 'binary-ascii', maxLength: 1 }));
    const text = array(letters, { maxLength: 30 }).map((each) => each.join(''));
    assert(
      property(text, text, (one, other) => {
        expect(readWords(`${pwsh.quote(one)} ${pwsh.quote(other)}`)).toEqual([one, other]);
      }),
    );
  });
});

describe('a request to the driver of pwsh', () => {
  const request = { mode: 'O', slot: '007', number: '000042', nonce: 'n'.repeat(22), text: "echo 'é'" };

  it('has the length that the driver reads, with the nonce after the part that it waits for', () => {
    const { line, file } = pwsh.request(request);
    expect(file).toBe(request.text);
    const [, length = '', first = ''] = /Length -lt (\d+)\) \{\s*\$end = if \(\S+ -lt (\d+)\)/.exec(DRIVER) ?? [];
    expect(line).toBe(`O007000042${request.nonce}\n`);
    expect(line).toHaveLength(Number(length));
    expect(line.indexOf(request.nonce)).toBe(Number(first));
    const parts = [...DRIVER.matchAll(/= \$text\.Substring\((\d+), (\d+)\)/g)].map(([, at, size]) =>
      line.slice(Number(at), Number(at) + Number(size)),
    );
    expect(parts).toEqual([request.mode, request.slot, request.number, request.nonce]);
  });

  it.each(['s', 'r', 'q'])('takes no text in mode %s', (mode) => {
    expect(pwsh.request({ ...request, mode, text: 'NAMES' }).file).toBe(mode === 'q' ? 'NAMES' : undefined);
  });
});

describe('the texts for pwsh', () => {
  const callsOf = (text: string) =>
    text.split('\n').map((line) => /^(\S+) (.*)$/.exec(line)!.slice(1) as [string, string]);

  it('calls a program by its name, and no cmdlet or alias', () => {
    const spec = { id: '1', command: "it's", args: ['-n', '', '*', "'"], timeoutMs: 1, tty: false };
    const limits = { maxSize: 1, beginSize: 1, endSize: 0 };
    const command = new Command({ ...spec, limits }, { spoolDirectory: '/none', budget: new SpoolBudget(1) });
    const [, program = '', words = ''] = /^& \(__sa_program (.*?)\) (.*)$/.exec(command.textFor(pwsh)) ?? [];
    expect([readWords(program), readWords(words)]).toEqual([["it's"], ['-n', '', '*', "'"]]);
  });

  it('sets variables and a directory for one command by functions of the driver, which undo it', () => {
    const { before, after } = pwsh.surround({ env: { K: "v'1\u20192", L: '' }, cwd: '/a b' });
    const calls = [...before.replaceAll('\n', ' ').matchAll(/(__sa_\w+) ('.*?')(?= __sa_|$)/g)];
    expect(calls.map(([, name, words = '']) => [name, readWords(words)])).toEqual([
      ['__sa_env', ['K', "v'1\u20192"]],
      ['__sa_env', ['L', '']],
      ['__sa_enter', ['/a b']],
    ]);
    expect(after).toBe('');
    for (const [, name] of calls) expect(DRIVER).toContain(`function global:${name}(`);
  });

  it('sets a session up', () => {
    expect(callsOf(pwsh.setUp({ env: { K: "it's" }, cwd: "/it's" }))).toEqual([
      ['__sa_export', "'K' 'it''s'"],
      ['Microsoft.PowerShell.Management\\Set-Location', "-LiteralPath '/it''s'"],
    ]);
    expect(pwsh.setUp({})).toBe('');
  });

  it('checks syntax without running the text', () => {
    const args = pwsh.parseOnly("'; Remove-Item /tmp/x #");
    expect(args.slice(0, -1)).toEqual(['-NoLogo', '-NoProfile', '-NonInteractive', '-Command']);
    const [, words = ''] = /ParseInput\(('.*'), \[ref\]/.exec(args.at(-1)!) ?? [];
    expect(readWords(words)).toEqual(["'; Remove-Item /tmp/x #"]);
  });
});

describe('pwsh as a shell', () => {
  it('says that it is not installed', () => {
    expect(() => findShell('pwsh', '/nowhere')).toThrow('pwsh is not installed, or not on PATH (/nowhere)');
    expect(() => findShell('/usr/bin/no-pwsh', '')).toThrow('/usr/bin/no-pwsh is not an executable file');
  });

  it('is no default shell', () => {
    expect(pwsh.oneShot).toBeUndefined();
    expect(() => findDefaultShell('pwsh', '/nowhere')).toThrow(/pwsh/);
  });

  it('starts without output of its own on a terminal that can do nothing', () => {
    const { launcher = [], args, env } = pwsh.session('/dir', false);
    expect(launcher.join(' ')).toMatch(/export __SA_TERM="\$TERM" TERM=dumb; exec >\/dev\/null; .*exec "\$@"/);
    expect(args.slice(0, -1)).toEqual(['-NoLogo', '-NoProfile', '-NoExit', '-File']);
    expect(env).toMatchObject({ __SA_DIR: '/dir' });
  });
});
