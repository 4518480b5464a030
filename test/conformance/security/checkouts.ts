import { describe, expect, test, type TestContext } from 'vitest';

import type { WireClient } from '../../support/wire.js';
import { newName, type SecurityTarget } from './target.js';

/** Ways to have git look at a repository that came with other files. */
const LOOKS: readonly (readonly [title: string, command: string])[] = [
  ['git -C', 'git -C vendored status'],
  ['a directory', 'cd vendored && git status'],
  ['a bare repository', 'cd vendored && git ls-files'],
  ['--git-dir', 'git --git-dir=vendored status'],
  ['a file that leads there', 'git -C linked status'],
  ['another branch of it', 'git -C vendored diff'],
];

/** Makes a directory with a repository in it whose settings name a program, and a program that leaves a mark. */
const make = (name: string): string =>
  [
    `mkdir -p ${name}/vendored/objects ${name}/vendored/refs ${name}/linked`,
    `cd ${name}`,
    String.raw`printf '#!/bin/sh\ntouch "$(dirname "$0")/mark"\n' > hook.sh`,
    'chmod +x hook.sh',
    `printf 'ref: refs/heads/main\n' > vendored/HEAD`,
    String.raw`printf '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = "%s/hook.sh"\n' "$PWD" > vendored/config`,
  ].join('\n');

async function makeCheckout(client: WireClient, context: TestContext, name: string): Promise<void> {
  const { status } = await client.run(make(name));
  if (status !== 'completed') context.skip('this daemon asks before it writes into its workspace');
  // A file that leads to a repository may itself be asked about; then that way is closed.
  await client.run(String.raw`printf 'gitdir: ../vendored\n' > ${name}/linked/.git`);
}

async function remove(client: WireClient, name: string): Promise<void> {
  const stopped = await client.run(`rm -rf ./${name}`);
  if (stopped.status !== 'confirmation_required' || stopped.requires !== 'self') return;
  await client.request('confirm_command', {
    confirmation_id: stopped.confirmation_id!,
    decision: 'approve',
    command_sha256: stopped.command_sha256,
    justification: 'made by this test',
  });
}

/** Git in what was merely checked out runs no program of it. */
export function checkouts(target: () => SecurityTarget): void {
  describe('git in a checkout', () => {
    test.for(LOOKS)('by %s runs nothing that lies there', async ([, command], context) => {
      const client = await target().connect('agent');
      if ((await client.run('git --version')).exit_code !== 0) context.skip('there is no git where this daemon runs');
      const name = newName();
      await makeCheckout(client, context, name);
      try {
        await client.run(`cd ${name} && ${command}`);
        expect((await client.run(`ls ${name}`)).stdout).not.toContain('mark');
      } finally {
        await remove(client, name);
      }
    });
  });
}
