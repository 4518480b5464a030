import fc from 'fast-check';

/** What is run in a session, and by the shell itself. */
export interface Program {
  readonly shell: 'bash' | 'zsh' | 'sh';
  readonly text: string;
  /** Its output goes to the session's terminal, which turns each newline into two characters. */
  readonly tty: boolean;
  /** It prints the mark and waits for an interrupt, which is sent then. */
  readonly isInterrupted: boolean;
}

/** What a program prints before it waits to be interrupted. */
export const INTERRUPT_MARK = '-waiting-';

/** Bytes that the drivers use among themselves, and such as confuse readers of terminals and texts. */
const MARKERS: readonly (readonly number[])[] = [
  '>o000000001',
  '<0123456789012345678901',
  '>q000000001000',
  'ready 0 0 /',
  'lost 0 0 /',
  '\u001b]7711;z0123456789012345678901\u0007',
  '\u001b]7711;a0123456789012345678901\u0007',
  '\u001b[2J\u001b[H\u001b]0;x\u0007',
  '\u0004\u0003\u001a',
  '%\r\n$ ',
  '__sa_end 3\n',
].map((text) => [...Buffer.from(text)]);

const bytes: fc.Arbitrary<readonly number[]> = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 12 }),
  fc.constantFrom(...MARKERS),
  fc.constantFrom([0], [0xff, 0xfe], [0xed, 0xa0, 0x80], [0xc3], [0xf0, 0x9f], [10, 10], [13], []),
);

/** A `printf` of bytes, each by its octal number: no shell changes them on their way. */
const printed = bytes.map((all) => `printf '${all.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}'`);

const word = fc.constantFrom(
  'a',
  'b',
  '"c d"',
  "'$x'",
  '"$x"',
  '"${y-unset}"',
  '*',
  '~',
  '$?',
  '"$@"',
  '\\\\n',
  '{1,2}',
);
const status = fc.constantFrom(0, 1, 2, 3, 7, 100, 126, 127, 128, 129, 130, 137, 143, 254, 255);

const simple = fc.oneof(
  { weight: 4, arbitrary: printed },
  { weight: 2, arbitrary: printed.map((text) => `${text} >&2`) },
  { weight: 2, arbitrary: fc.array(word, { maxLength: 3 }).map((words) => `printf '%s.' ${words.join(' ')}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('x=1', 'x=$((x + 1))', "y='a b'", 'unset x', 'x=$(printf "%s" "$x"; false)'),
  },
  { weight: 2, arbitrary: status.map((code) => `(exit ${code})`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 300_000 }).map((size) => `head -c ${size} /dev/zero`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...[
        'true',
        'false',
        ':',
        'no-such-program-here',
        'cd /nonexistent-here',
        'read -r x </dev/null',
        'cat </dev/null',
      ],
      ...[
        'set -- 1 2 3',
        'shift',
        'kill -TERM 0x',
        'sh -c "kill -TERM \\$\\$"',
        'sh -c "kill -KILL \\$\\$"',
        'test a = b',
      ],
      ...['cat <<E\n$x `printf y`\nE', "cat <<'E'\n$x\n\\\nE", 'umask >/dev/null', 'wait', 'echo', 'exec 3>/dev/null'],
    ),
  },
);

/** Statements, one within the other. */
const { statement } = fc.letrec<{ statement: string; list: string }>((tie) => ({
  list: fc.array(tie('statement'), { minLength: 1, maxLength: 3 }).map((all) => all.join('\n')),
  statement: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: simple },
    { weight: 1, arbitrary: tie('list').map((list) => `(\n${list}\n)`) },
    { weight: 1, arbitrary: tie('list').map((list) => `{\n${list}\n}`) },
    { weight: 1, arbitrary: tie('list').map((list) => `{\n${list}\n} >&2`) },
    { weight: 1, arbitrary: tie('list').map((list) => `if\n${list}\nthen printf yes\nelse printf no\nfi`) },
    { weight: 1, arbitrary: tie('list').map((list) => `for i in 1 2; do\n${list}\ndone`) },
    { weight: 1, arbitrary: tie('list').map((list) => `while\n${list}\nfalse; do :; done`) },
    { weight: 1, arbitrary: tie('list').map((list) => `{\n${list}\n} | cat`) },
    { weight: 1, arbitrary: tie('list').map((list) => `x=$(\n${list}\n)`) },
    { weight: 1, arbitrary: tie('list').map((list) => `f() {\n${list}\n}\nf a b`) },
    { weight: 1, arbitrary: tie('list').map((list) => `{\n${list}\n} 2>/dev/null &\nwait`) },
    { weight: 1, arbitrary: tie('list').map((list) => `(trap 'printf T' EXIT\n${list}\n)`) },
    { weight: 1, arbitrary: tie('list').map((list) => `! {\n${list}\n}`) },
    { weight: 1, arbitrary: tie('list').map((list) => `true && {\n${list}\n} || printf or`) },
    { weight: 1, arbitrary: tie('list').map((list) => `eval ${quoted(list)}`) },
  ),
}));

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * How a program can end. Not by `exec PROGRAM`: without a descriptor of its terminal, as with a given standard input, a program that
 * replaces the shell may be ended by SIGHUP.
 */
const ends = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: status.map((code) => `exit ${code}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('exit', 'false; exit', 'set -e\nfalse\nprintf never'),
  },
  { weight: 1, arbitrary: fc.constantFrom('kill -KILL $$', '(', "'", 'fi', '${', 'printf end # comment') },
);

const MARK = `printf '%s' ${INTERRUPT_MARK}`;

/** Ways to wait for an interrupt, which ends all of the program. */
const WAITS = [
  `${MARK}; sleep 30`,
  `(${MARK}; sleep 30)`,
  `${MARK}; sleep 30 | cat`,
  `${MARK}; sh -c "sleep 30"`,
  `{ ${MARK}; sleep 30; }`,
];

/** Texts of shell syntax that hardly ever mean anything: most are syntax errors. No name in them is a program's. */
const garbage = fc
  .array(
    fc.constantFrom(
      ...'( ) { } [[ ]] ; | & && || < > $ ${ } $( ` " \' \\ ! if then fi do done case esac in x y #'.split(' '),
    ),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(' '))
  // A function could call itself for ever.
  .filter((text) => !/\(\s*\)/.test(text));

const lines = fc.array(statement, { minLength: 1, maxLength: 4 }).map((all) => all.join('\n'));
const outputs = fc.array(printed, { minLength: 1, maxLength: 4 }).map((all) => all.join('\n'));
const shells = fc.constantFrom('bash' as const, 'zsh' as const, 'sh' as const);

/** Programs with what disturbs drivers: bytes, exit codes, ways to end, interrupts, and texts that are no programs. */
export const programs: fc.Arbitrary<Program> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      shell: shells,
      text: fc.tuple(lines, ends).map(([text, end]) => (end === '' ? text : `${text}\n${end}`)),
      tty: fc.constant(false),
      isInterrupted: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      shell: shells,
      text: outputs,
      tty: fc.constant(true),
      isInterrupted: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      shell: shells,
      text: fc
        .tuple(outputs, fc.constantFrom(...WAITS), fc.constantFrom('', '\nprintf never', ' && printf never'))
        .map(([text, wait, rest]) => `${text}\n${wait}${rest}`),
      tty: fc.constant(false),
      isInterrupted: fc.constant(true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ shell: shells, text: garbage, tty: fc.constant(false), isInterrupted: fc.constant(false) }),
  },
);
