import { beforeAll, describe, expect, type TestContext, test } from 'vitest';

import type { WireClient } from '../../support/wire.js';
import type { SecurityTarget } from './target.js';
import { readVerdictRows, type VerdictRow, type VerdictTable } from './verdict-rows.js';

/** What a daemon that asks about no ordinary work allows. */
const PLAIN_WORK = 'touch notes.txt';

/** Asks for the verdict on every row of the tables; UID stands for the number of the daemon's user. Nothing of it runs. */
export function verdicts(target: () => SecurityTarget): void {
  const actions = new Map<string, Promise<string>>();
  let uid = '0';
  beforeAll(async () => {
    const client = await target().connect('agent');
    const answer = await client.run('id -u');
    // A daemon that asks about everything does not say.
    if (!answer.error && /^\d+\n$/.test(answer.stdout)) uid = answer.stdout.trim();
  });
  const actionOf = (client: WireClient, row: VerdictRow): Promise<string> => {
    const { args, cwd } = row;
    const command = row.command.replaceAll('UID', uid);
    const key = JSON.stringify(row);
    const known = actions.get(key);
    if (known) return known;
    const asked = client
      .request('check_command', { command, ...(args && { args: [...args] }), ...(cwd !== undefined && { cwd }) })
      .then((answer) => answer.error?.code ?? answer.action);
    actions.set(key, asked);
    return asked;
  };
  for (const table of readVerdictRows()) {
    describe(`verdicts, ${table.name}: ${table.title}`, () => {
      let client: WireClient;
      for (const row of table.rows) {
        const title = row.args ? JSON.stringify([row.command, ...row.args]) : JSON.stringify(row.command);
        test(title, async (context) => {
          client = await firstOf(client, target);
          await skipUnlessShown(context, table, (command) => actionOf(client, { command }));
          const action = await actionOf(client, row);
          if (table.plain === null) expect(action, 'ordinary work').toBe('allow');
          else expect(['confirm', 'deny'], `the verdict is ${action}`).toContain(action);
        });
      }
    });
  }
}

const firstOf = async (client: WireClient | undefined, target: () => SecurityTarget): Promise<WireClient> =>
  client ?? target().connect('agent');

/** Skips a row where the configuration of the daemon says that its kind of command is allowed, or that all work is asked about. */
async function skipUnlessShown(
  context: TestContext,
  { plain }: VerdictTable,
  actionOf: (command: string) => Promise<string>,
): Promise<void> {
  const action = await actionOf(plain ?? PLAIN_WORK);
  if (plain === null && action !== 'allow') context.skip(`this daemon asks about ordinary work (${PLAIN_WORK})`);
  if (plain !== null && action === 'allow') context.skip(`this daemon allows the effect in the open: ${plain}`);
}
