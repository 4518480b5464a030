import { describe, expect, it } from 'vitest';

import { outcomeOf, verdictOn } from '../support.js';

/** Arithmetic on numbers that the text itself makes certain. */
const ON_NUMBERS = [
  'echo $((1 + 2 * 0x1f))',
  'echo $((RANDOM % 10)) $(($# + 1)) $((SECONDS / 60))',
  'i=0; while ((i < 10)); do ((i++)); done',
  'for i in 1 2 3; do echo $((i * 2)); done',
  'for i in {1..5}; do echo $((i * 2)); done',
  'for i in $(seq 1 5); do echo $((i * 2)); done',
  'for ((i = 0; i < 10; i++)); do echo $i; done',
  'a=(x y z); for ((i = 0; i < ${#a[@]}; i++)); do echo "${a[i]} ${a[$i]} ${a[i+1]}"; done',
  'n=$(wc -l < f); echo $((n + 1))',
  'n=$(ls | wc -l) && echo $((n * 2))',
  'n=$(du -sk . | cut -f1); [[ $n -gt 100 ]] && echo large',
  "n=$(wc -l f | awk '{print $1}'); echo $((n / 2))",
  'start=$(date +%s); make; echo $(( $(date +%s) - start ))',
  'n=$(grep -c foo f); if [[ $n -eq 0 ]]; then echo none; fi',
  'sum=0; for n in 1 2; do sum=$((sum + n)); done; echo $sum',
  'x=5; y=$x; echo $((x * y))',
  'x=3; { y=4; }; echo $((x + y))',
  'if n=$(nproc); then echo $((n / 2)); fi',
  'declare -A m; m[$key]=1; echo ${m[$key]}',
  'declare -A m=(); for k in a b; do m[$k]=x; done',
  'a=(1 2 3); echo $((a[0] + a[1]))',
  'echo ${#name} ${a[@]} ${a[-1]} ${PIPESTATUS[0]} ${x:1:2} ${!a[@]}',
  'x=${2:-5}; echo done',
  'shift; [[ $# -gt 0 ]]',
  'let i=0 i++',
  'read name; echo "$name"; [ "$name" -gt 5 ]',
  'echo $[1 + 2]',
  '[ -v name ] && [[ -v list[2] ]]; i=1; [[ -v list[i] && -v list[$i] ]]',
  'declare -A seen; [[ -v seen[$key] ]] || seen[$key]=1',
];

/** Arithmetic on values from elsewhere, which may be `a[$(rm x)]`. */
const ON_DATA = [
  'n=$(cat f); [ -v "list[$n]" ]',
  'n=$(cat f); test -v "$n"',
  'n=$(cat f); [[ -v list[$n] ]]',
  'n=$(cat f); [[ -R $n ]]',
  'read x < f; echo $((x))',
  'read x; echo $((x + 1))',
  'x=$(cat f); ((x))',
  'x=$(cat f); echo ${a[x]}',
  'x=$(cat f); echo ${a[$x]}',
  'x=$(cat f); a[x]=1',
  'x=$(cat f); echo ${y:x}',
  'x=$(cat f); echo ${y:0:$x}',
  '[[ $(head -1 f) -gt 0 ]]',
  '[[ 0 -eq $(cat f) ]]',
  'x=$(cat f); [[ x -lt 3 ]]',
  'declare -i n; n=$(cat f)',
  'declare -i n=$(cat f)',
  'f() { local -i n; n=$(cat f); }; f',
  'for x in $(cat g); do echo $((x)); done',
  'for x in $(cat g); do echo $((10 * $x)); done',
  'for x; do echo $((x)); done',
  'mapfile -t a < f; echo $((a))',
  'mapfile -t a < f; echo $((a[0]))',
  'cat f | while read n; do ((s += n)); done',
  "echo 'a[$(rm x)]' | { read x; echo $((x)); }",
  'echo $(( $(cat f) ))',
  'echo $((x))',
  'echo $(($1 + 1))',
  'echo $[x]',
  'false && x=1; echo $((x))',
  'if test -f g; then x=1; fi; echo $((x))',
  '(x=1); echo $((x))',
  'x=1 & echo $((x))',
  'x=1 | cat; echo $((x))',
  'echo $((x)); x=1',
  'x=1; read x < f; echo $((x))',
  'x=1; f() { x=$(cat f); }; f; echo $((x))',
  'x=1; printf -v x %s "$y"; echo $((x))',
  'x=1; y=$(cat f); x=$y; echo $((x))',
  'x=1; source g; echo $((x))',
  'x=1; unset x; echo $((x))',
  'x=1; declare -n r=x; r=$(cat f); echo $((x))',
  'wc() { cat f; }; x=$(wc -l); echo $((x))',
  'x=$(wc -l f); echo $((x))',
  'echo ${!x}',
  'read x < f; echo ${!x}',
  'for ((i = $(cat f); i < 3; i++)); do :; done',
  'let "x = $(cat f)"',
  'n=$(cat f); let x=n',
  'i=0; ((a[$(cat f)] = 1))',
];

describe('arithmetic', () => {
  it.each(ON_NUMBERS)('on numbers is allowed: %s', (command) => {
    expect(verdictOn(command)).toMatchObject({ action: 'allow' });
  });

  it.each(ON_DATA)('on data is asked about: %s', (command) => {
    expect(outcomeOf(command)).toBe('confirm obfuscated');
  });

  it('is asked about when a function of the session may have set its variables', () => {
    const functions = new Map([['f', '{ read x < g; }']]);
    expect(verdictOn('x=1; f; echo $((x))', { functions }).action).toBe('confirm');
    expect(verdictOn('x=1; echo $((x))', { functions }).action).toBe('allow');
  });

  it('on a variable of the request is asked about', () => {
    expect(verdictOn({ command: 'echo $((X))', env: { X: 'a[$(rm x)]' } }).action).toBe('confirm');
  });
});
