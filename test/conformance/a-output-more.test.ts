import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { run, type Trap } from './harness/table.js';

const STREAM = { stream: true };
const BASE64 = { output: { encoding: 'base64' as const, max_size: 2_000_000 } };
const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

const more: Trap[] = [
  {
    id: 'A2',
    title: 'blank lines at the end stay',
    steps: [
      run(String.raw`printf 'x\n\n\n'`, { stdout: 'x\n\n\n' }, STREAM),
      run('echo', { stdout: '\n' }),
      run('true', {}),
      run(String.raw`printf '\n'`, { stdout: '\n' }),
    ],
  },
  {
    id: 'A4',
    title: 'NUL alone',
    steps: [run(String.raw`printf '\0\0\0'`, { stdout: '\0\0\0', stdout_bytes: 3 }, STREAM)],
  },
  {
    id: 'A6',
    title: 'bytes that are not UTF-8 are marked and can be had',
    steps: [
      run(String.raw`printf '\xff\xfea'`, { stdout: '\uFFFD\uFFFDa', stdout_bytes: 3, lossy: true }, STREAM),
      run(String.raw`printf '\xff\xfea'`, { stdout: Buffer.from([0xff, 0xfe, 0x61]).toString('base64') }, BASE64),
      run(
        String.raw`printf '\xe6\xbc'; printf '\xe6\xbc' >&2`,
        { stdout: '\uFFFD', stderr: '\uFFFD', lossy: true },
        STREAM,
      ),
    ],
  },
  {
    id: 'A6b',
    title: 'every byte value',
    steps: [
      run(
        String.raw`for i in {0..255}; do printf "\\x$(printf %02x $i)"; done`,
        { stdout: ALL_BYTES.toString('base64'), stdout_bytes: 256 },
        { ...BASE64, ...STREAM },
      ),
    ],
  },
  {
    id: 'A8',
    title: 'a byte order mark stays',
    steps: [run(String.raw`printf '\xef\xbb\xbfx'`, { stdout: '\uFEFFx' }, STREAM)],
  },
  {
    id: 'A10',
    title: 'escape sequences, bells and lone carriage returns stay',
    steps: [
      run(String.raw`printf '\e[31mred\e[0m\a\b\f\v\r\e]0;title\a\e[2J'`, {
        stdout: '\x1b[31mred\x1b[0m\x07\b\f\v\r\x1b]0;title\x07\x1b[2J',
      }),
    ],
  },
  {
    id: 'A12',
    title: 'emoji, right-to-left, combining and separator characters',
    steps: [
      run(
        "echo '👨‍👩‍👧‍👦 שלום مرحبا e\u0301 \u2028 \u2029 \u0085 𝔘 \u{10FFFF}'",
        {
          stdout: '👨‍👩‍👧‍👦 שלום مرحبا e\u0301 \u2028 \u2029 \u0085 𝔘 \u{10FFFF}\n',
        },
        STREAM,
      ),
    ],
  },
  {
    id: 'A14',
    title: 'a million bytes on each stream',
    steps: [
      run(
        'head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2',
        {
          stdout: /^\0/,
          stderr: /^\0/,
          stdout_bytes: 1_000_000,
          stderr_bytes: 1_000_000,
        },
        STREAM,
      ),
    ],
  },
  {
    id: 'A16',
    title: 'two megabytes without a newline',
    steps: [
      run("head -c 2000000 /dev/zero | tr '\\0' é", { stdout: /./, stdout_bytes: 2_000_000, lossy: true }),
      run(`python3 -c "print('漢'*700000, end='')"`, {
        stdout: /^漢/,
        stdout_bytes: 2_100_000,
        whole: '漢'.repeat(700_000),
        check: ({ original_stdout_size }) => {
          expect(original_stdout_size).toBe(700_000);
        },
      }),
    ],
  },
  {
    id: 'A18',
    title: 'the driver’s own fence, forged',
    steps: [
      run(String.raw`printf '\e]7711;zAAAAAAAAAAAAAAAAAAAAAA\a\e]7711;a\a'; false`, {
        stdout: '\x1b]7711;zAAAAAAAAAAAAAAAAAAAAAA\x07\x1b]7711;a\x07',
        exit_code: 1,
      }),
      run(
        String.raw`printf 'a\e]7711;zAAAAAAAAAAAAAAAAAAAAAA\ab'; sleep 0.3; printf c; false`,
        { stdout: 'a\x1b]7711;zAAAAAAAAAAAAAAAAAAAAAA\x07bc', exit_code: 1, takesMs: 300 },
        { tty: true },
      ),
    ],
  },
  {
    id: 'A20',
    title: 'standard descriptors by their paths',
    steps: [
      run('echo a >/dev/stdout; echo b >/dev/fd/1; echo c >/proc/self/fd/1; echo d >>/dev/stdout', {
        stdout: 'a\nb\nc\nd\n',
      }),
      run('echo a >/dev/stderr; echo b >/dev/fd/2; echo c | tee /dev/stderr', { stdout: 'c\n', stderr: 'a\nb\nc\n' }),
    ],
  },
  {
    id: 'A22',
    title: 'what goes to the terminal is not output',
    steps: [run('echo t >/dev/tty; echo o', { stdout: 'o\n' })],
  },
  {
    id: 'A24',
    title: 'a hundred thousand writes of one byte',
    steps: [run('for i in {1..100000}; do echo; done', { stdout: '\n'.repeat(100_000), takesMs: 2000 }, STREAM)],
  },
  {
    id: 'A26',
    title: 'trimming cuts no character in two',
    steps: [
      run(
        `python3 -c "print('😀'*1000, end='')"`,
        {
          check: ({ stdout, original_stdout_size }) => {
            expect(original_stdout_size).toBe(1000);
            expect(stdout.startsWith('😀'.repeat(3))).toBe(true);
            expect(stdout.endsWith('😀'.repeat(4))).toBe(true);
            expect(stdout).not.toMatch(/[\uD800-\uDFFF](?![\uDC00-\uDFFF])(?<![\uD800-\uDBFF][\uDC00-\uDFFF])|\uFFFD/);
          },
          stdout: /^(?:😀){3}[^😀]*(?:😀){4}$/u,
        },
        { output: { max_size: 7, begin_size: 3, end_size: 4 } },
      ),
    ],
  },
  {
    id: 'A28',
    title: 'bash itself and programs write in the order of the command',
    steps: [
      run('echo a; /bin/echo b; printf c; (echo d); cat <<<e; command echo f', { stdout: 'a\nb\ncd\ne\nf\n' }, STREAM),
    ],
  },
];

conformance('A. Output exactness: more', more);
