import { parse } from 'unbash';

import { factsOfFreshShell } from '../../dist/core/policy/model.js';
import { decide } from '../../dist/core/policy/policy.js';
import { PRESETS } from '../../dist/core/policy/policy.js';
import { requests } from '../../dist/core/protocol/requests.js';
import { inRounds } from '../measure.mjs';

/** What agents run all day, from one word to a small script. */
const COMMANDS = [
  'ls -la',
  'git status',
  'npm test 2>&1 | tail -40',
  'grep -rn "TODO" src | sort | uniq -c > todo.txt',
  'cd build && cmake .. && make -j4',
  'for f in a b c; do sed -n 1,20p "$f.txt"; done',
  "python3 - <<'E'\nprint(1)\nE",
  'sudo -u bob sh -c \'find /srv -name "*.log" -mtime +7 -exec gzip {} +\'',
  'if [ -f package.json ]; then npm ci; else echo "no package"; fi',
  'curl -fsSL https://example.org/x.json | jq ".items[] | .name"',
];

const facts = factsOfFreshShell('/work/space', { home: '/home/ada' });
const policy = { actions: PRESETS.balanced, rules: [] };

/** The gate's decision beside what the request costs anyway: its schema, and the barest parse of its text. */
export const policyRow = {
  name: 'policy of a typical command',
  target: 20,
  async run({ short }) {
    let at = 0;
    const next = () => COMMANDS[at++ % COMMANDS.length];
    const measured = await inRounds({
      rounds: short ? 4 : 20,
      runs: short ? 500 : 2000,
      floor: () => {
        const command = next();
        requests.execute_command.input.safeParse({ command, session_id: 'session_x' });
        parse(command);
      },
      ours: () => {
        decide(policy, { command: next() }, facts);
      },
    });
    return { ...measured, extra: `p95 ${(measured.ours.p95 * 1000).toFixed(0)} µs of at most 1000` };
  },
};
