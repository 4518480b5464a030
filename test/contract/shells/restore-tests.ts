import { describe, expect, test } from 'vitest';

import type { ShellName } from './harness.js';
import type { TestSession } from './test-session.js';

/** A setting and the line that shows it, the same in the shell that is killed and in the next one. */
interface Setting {
  readonly what: string;
  readonly set: string;
  readonly show: string;
  readonly shown: string;
  /** @default all shells */
  readonly only?: readonly ShellName[];
}

/** @param wedgeTimeoutMs where it matters */
type OpenSession = (wedgeTimeoutMs?: number) => Promise<TestSession>;

/** In milliseconds. A save that never ends uses ten times as much of a processor. */
const HASTY_WEDGE_TIMEOUT_MS = 100;

const HOSTILE = '$(touch ran) `touch ran` ; touch ran; ${x:=y} $((a[$(touch ran)]))';

const SETTINGS: readonly Setting[] = [
  { what: 'plain variables', set: "P='a  b'; E=''", show: 'echo "$P|${E-unset}"', shown: 'a  b|' },
  {
    what: 'several lines',
    set: "L='a\n#end\ntouch ran\n\nb\n'",
    show: 'printf "%s|" "$L"',
    shown: 'a\n#end\ntouch ran\n\nb\n|',
  },
  { what: 'quotes', set: `Q='it'\\''s "x" \\\\n \\'`, show: 'printf "%s" "$Q"', shown: `it's "x" \\\\n \\` },
  { what: 'text of commands', set: `H='${HOSTILE}'`, show: 'printf "%s" "$H"', shown: HOSTILE },
  {
    what: 'odd bytes',
    set: `B=$(printf 'a\\001\\033\\177\\377\\351z')`,
    show: 'printf %s "$B" | od -An -tx1',
    shown: ' 61 01 1b 7f ff e9 7a',
  },
  { what: 'a changed IFS', set: 'IFS=:', show: 'printf %s "$IFS"', shown: ':' },
  {
    what: 'readonly',
    set: 'R=5; readonly R',
    show: '(R=6) 2>/dev/null; echo "$R"; (unset R) 2>/dev/null || echo kept',
    shown: '5\nkept',
  },
  {
    what: 'aliases, with lines of any text',
    set: `alias one='echo 1' two='echo 2' three='echo 3' cat='x\n#types\ntouch ran'; alias four='echo "\n#end\ntouch ran\n"'`,
    show: 'one; two; three; four',
    shown: '1\n2\n3\n\n#end\ntouch ran\n',
  },
  {
    what: 'aliases of any name',
    only: ['sh'],
    set: `alias '$(touch ran)=1' "it's=2" '=a=3' 'b\nc=4' command='touch ran;' z=5`,
    show: `alias '$(touch ran)' "it's" =a 'b\nc' command z; \\unalias command`,
    shown: `$(touch ran)='1'\nit's='2'\n=a='3'\nb\nc='4'\ncommand='touch ran;'\nz='5'`,
  },
  { what: 'umask', set: 'umask 027', show: 'umask', shown: '027' },
  {
    what: 'options',
    set: 'set -o noglob; set -u',
    show: 'echo *; (echo "${none_such}") 2>/dev/null || echo unset',
    shown: '*\nunset',
  },
  { what: 'noclobber', set: 'set -C', show: ': >file; (: >file) 2>/dev/null || echo kept; rm file', shown: 'kept' },
  { what: 'export of all', set: 'set -a; A=1', show: 'B=2; sh -c \'echo "$A$B"\'', shown: '12' },
  {
    what: 'a trace',
    set: 'set -x',
    show: '{ case $- in *x*) echo on ;; esac; } 2>/dev/null',
    shown: 'on',
  },
  {
    what: 'traps',
    set: `trap 'echo "it'\\''s \${P-}"' USR1; trap '' USR2`,
    show: 'kill -USR1 $$; kill -USR2 $$; echo on',
    shown: "it's \non",
  },
  {
    what: 'arrays',
    only: ['bash', 'zsh'],
    set: `typeset -a list; list=('a b' '' '${HOSTILE}' $'x\\ny')`,
    show: 'printf "%s|" "${list[@]}"; echo ${#list[@]}',
    shown: `a b||${HOSTILE}|x\ny|4`,
  },
  {
    what: 'associative arrays, with any key',
    only: ['bash', 'zsh'],
    set: `typeset -A map; k='$(touch ran)]'; s='a b'; map[$s]=1; map[$k]='$(touch ran)'; map[x]=$'y\\nz'`,
    show: 'echo "${map[$s]}|${map[$k]}|${map[x]}|${#map[@]}"',
    shown: '1|$(touch ran)|y\nz|3',
  },
  {
    what: 'integers',
    only: ['bash', 'zsh'],
    set: 'typeset -i n=3; typeset -r -i m=7',
    show: 'n=n+1; echo $n $m',
    shown: '4 7',
  },
  {
    what: 'upper and lower case',
    only: ['bash', 'zsh'],
    set: 'typeset -u up=abc; typeset -l low=ABC',
    show: 'echo $up $low; up=x; low=Y; echo $up $low',
    shown: 'ABC abc\nX y',
  },
  {
    what: 'text that became an integer later',
    only: ['bash'],
    set: `late='a[$(touch ran)]'; declare -i late; larr=('a[$(touch ran)]'); declare -ai larr; Up=aBc; declare -u Up`,
    show: 'printf "%s|" "$late" "${larr[0]}" "$Up" "${late@a}" "${larr@a}"',
    shown: 'a[$(touch ran)]|a[$(touch ran)]|aBc|i|ai|',
  },
  {
    what: 'exported text that became an integer later',
    only: ['bash'],
    set: `late='a[$(touch ran)]'; declare -ix late; declare -rix five=5; declare -ux UP=x`,
    show: 'echo "$late|$five"; sh -c \'echo "$late|$five|$UP"\'; UP=y; echo "$UP"',
    shown: 'a[$(touch ran)]|5\na[$(touch ran)]|5|X\nY',
  },
  {
    what: 'references',
    only: ['bash'],
    set: 'target=1; declare -n ref=target',
    show: 'ref=2; echo $target',
    shown: '2',
  },
  {
    what: 'shopt options, and functions that need them',
    only: ['bash'],
    set: 'shopt -s extglob nullglob dotglob\nf() { case $1 in +([0-9])) echo digits ;; esac; }',
    show: 'f 12; shopt extglob nullglob dotglob globstar | grep -c "on$"',
    shown: 'digits\n3',
  },
  {
    what: 'traps on ERR and RETURN',
    only: ['bash'],
    set: "trap 'echo failed' ERR; trap 'echo back' RETURN; set -E",
    show: 'false; f() { :; }; f; trap - ERR',
    shown: 'failed',
  },
  { what: 'pipefail', only: ['bash', 'zsh'], set: 'set -o pipefail', show: 'false | true; echo $?', shown: '1' },
  {
    what: 'options of zsh',
    only: ['zsh'],
    set: 'setopt ksh_arrays extended_glob; unsetopt nomatch; a=(x y)',
    show: 'echo ${a[0]} [[:digit:]]##',
    shown: 'x [[:digit:]]##',
  },
  { what: 'floats', only: ['zsh'], set: 'typeset -F 2 f=1.5', show: 'printf %.2f $f', shown: '1.50' },
];

/**
 * What a new shell has of the one that was killed.
 * @param isExact whether the platform tells what a shell does: else one that hangs is not found before its command's time-out
 */
export function restoreTests(shell: ShellName, open: OpenSession, isExact: boolean): void {
  describe('what comes back after the shell was killed', () => {
    for (const { what, only, set, show, shown } of SETTINGS) {
      if (only?.includes(shell) === false) continue;
      test(what, async () => {
        await using session = await open();
        expect(await session.run(set)).toMatchObject({ exitCode: 0 });
        expect(await session.run('kill -9 $$')).toMatchObject({ sessionState: 'restarted', exitCode: 137 });
        const { stdout } = await session.run(show);
        expect(stdout.trimEnd().replace(/^0(?=\d\d\d$)/, '')).toBe(shown.trimEnd());
        expect((await session.run('ls -A')).stdout).toBe('');
      });
    }

    test('not errexit, which would end the new shell too; the warning says what is lost', async () => {
      await using session = await open();
      await session.run('set -eu');
      const { warnings } = await session.run('kill -9 $$');
      expect(warnings[0]?.message).toMatch(/variables.*options, umask and traps.*except for `set -e`, .*jobs/);
      expect(await session.run('case $- in *u*) echo on ;; esac')).toMatchObject({ stdout: 'on\n' });
      expect(await session.run('false; echo on')).toMatchObject({ stdout: 'on\n', sessionState: 'alive' });
    });

    test('what is too large does not cost the rest', async () => {
      await using session = await open();
      // sh takes variables of any size, but slowly.
      const bytes = shell === 'sh' ? 200_000 : 3_000_000;
      await session.run(`small=1; export out=2; big=$(head -c ${bytes} /dev/zero | tr "\\0" x)`);
      await session.run('kill -9 $$');
      expect(await session.run('echo "$small$out${#big}"')).toMatchObject({
        stdout: shell === 'sh' ? `12${bytes}\n` : '120\n',
      });
    });
    if (shell === 'bash') saveTests(open, isExact);
  });
}

/** Traps that run only while the driver saves the state: functions inherit them. */
const inSave = (trap: string): string => `set -T; trap '[[ \${FUNCNAME-} != __sa_save ]] || ${trap}' DEBUG`;

/** Each kills the shell, for which its state is saved before. */
function saveTests(open: OpenSession, isExact: boolean): void {
  test('a state that takes longer to save than a shell may be unresponsive', async () => {
    await using session = await open(HASTY_WEDGE_TIMEOUT_MS);
    await session.run('kept=1; for ((i = 0; i < 4000; i++)); do declare "v$i=$i"; done');
    const { warnings } = await session.run('kill -9 $$');
    expect(warnings.map(({ code }) => code)).toEqual(['SHELL_ENDED']);
    expect(await session.run('echo "$kept$v3999"')).toMatchObject({ stdout: '13999\n' });
  });

  test.runIf(isExact).each([
    ['stops', 'kill -STOP $$', undefined],
    ['does not end', 'while :; do :; done', HASTY_WEDGE_TIMEOUT_MS],
  ])('the state before, if the save %s', async (_title, trap, wedgeTimeoutMs) => {
    await using session = await open(wedgeTimeoutMs);
    await session.run('kept=1');
    await session.readState([]);
    await session.run(`kept=2; ${inSave(trap)}`);
    const { warnings } = await session.run('kill -9 $$');
    expect(warnings.map(({ code }) => code)).toEqual(['SHELL_WEDGED']);
    expect(await session.run('echo "$kept"')).toMatchObject({ stdout: '1\n' });
  });
}
