import { expect, it } from 'vitest';

import { stepsBefore } from '../../../../src/engine/shells/bash.js';

const WHOLE = '__sa_make_whole';
const HIDE = '__sa_hide';
const APART = '__sa_run_apart';

it.each<readonly [text: string, steps: readonly string[]]>([
  ['for f in *; do echo "${f%.txt}"; done', []],
  ['set -e; make && echo done', []],
  ['declare -A map; map[a]=1; export PATH=/bin', []],
  ['for i in 1 2; do [ $i = 1 ] && continue; break; done', []],
  ['set -euo pipefail\nmake', [WHOLE]],
  ['set -o nounset; echo "$x"', [WHOLE]],
  ['echo "${x:?is needed}"', [WHOLE]],
  ['shopt -s expand_aliases; alias a=b; set -u', [WHOLE]],
  ['set -x; declare -F', [WHOLE, HIDE, APART]],
  ["trap 'rm -f x' EXIT; exit 3", ['__sa_note_exit_trap']],
  ["trap 'rm -f x' EXIT; make", []],
  ['continue', [APART]],
  ['set -ex; make', [APART]],
  ['set -o xtrace; set -u', [WHOLE, APART]],
  ['shopt -s lastpipe; ls | read -r x', ['__sa_without_jobs']],
  ['exec 9>lock; flock 9', []],
  ['exec 12>log', ['__sa_free_numbers']],
  ['declare -F', [HIDE]],
  ['set | grep x', [HIDE]],
  ['type -t exit', [HIDE]],
  ['set -u; declare -p x', [WHOLE, HIDE]],
  ['declare -F; exit 3', []],
  ['[[ a ==', []],
  ['[[ -f x && $y == a* ]] || echo no', []],
  ['echo a\n[[ a 3< b ]]\necho b', ['__sa_keep_code 1']],
  ['[[ -z ]]', ['__sa_keep_code 0']],
  ['echo "[[ a ]]"; echo )', []],
])('the driver’s steps before %j', (text, steps) => {
  expect(stepsBefore(text)).toEqual(steps);
});
