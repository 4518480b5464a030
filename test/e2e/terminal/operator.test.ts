import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { missing, Screen, startShipped } from './tmux.js';

const noTmux = missing('tmux') !== undefined;

describe.skipIf(noTmux)('exec --tty where an operator confirms (needs tmux)', () => {
  let daemon: TestDaemon;
  let operator: WireClient;
  beforeAll(async () => {
    daemon = await startShipped({ mode: 'operator' });
    operator = await WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken('operator', 'olga') });
  });
  afterAll(async () => {
    await operator[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  const exec = (...command: string[]) => new Screen(daemon.url, ['exec', '--tty', ...command]);
  /** Decides over what the terminal waits for; gives what the operator got to see. */
  async function decide(decision: 'approve' | 'reject', justification?: string) {
    const [asked, ...others] = (await operator.request('list_confirmations')).confirmations;
    if (!asked || others.length > 0) throw new Error('expected exactly one open confirmation');
    const { confirmation_id } = asked;
    // An approval is answered when the command has ended.
    void operator.request('confirm_command', { confirmation_id, decision, ...(justification && { justification }) });
    return asked;
  }

  it('shows the wait and the approval, and then the program has the terminal', async () => {
    using screen = exec('bash', '--norc', '--noprofile');
    await screen.until(/waiting for an operator to confirm the command \(interactive\); Ctrl-C cancels/);
    await screen.until(/bash takes typed input that the policy cannot judge/);
    // Typed ahead: kept until the program is there.
    screen.type('echo ahead');
    screen.press('Enter');
    await decide('approve');
    await screen.until(/confirmed by olga/);
    await screen.until(/^ahead$/m);
    screen.type('exit 5');
    screen.press('Enter');
    await screen.until(/\[exit 5\]/);
  });

  it('shows a refusal with its reason', async () => {
    using screen = exec('bash');
    await screen.until(/waiting for an operator/);
    await decide('reject', 'not today');
    await screen.until(/olga has refused it: not today\n\[exit 126\]/);
  });

  it('is cancelled by Ctrl-C', async () => {
    using screen = exec('bash');
    await screen.until(/waiting for an operator/);
    screen.press('C-c');
    await screen.until(/cancelled: the command was not run\n\[exit 130\]/);
    expect((await operator.request('list_confirmations')).confirmations).toEqual([]);
  });

  it('a line that is typed later waits as well; the operator does not see it', async () => {
    writeFileSync(join(daemon.workspace, 'inner'), 'exec bash --norc --noprofile\n');
    using screen = exec('sh', './inner');
    await screen.until(/[$#]$/m);
    screen.type('rm -f my-secret-word');
    await screen.until(/[$#] rm -f my-secret-word$/m);
    screen.press('Enter');
    await screen.until(/waiting for an operator to confirm what was typed \(destructive\)/);
    const asked = await decide('reject', 'keep it');
    expect(asked).toMatchObject({ kind: 'input', command: '20 characters typed into bash' });
    expect(JSON.stringify(asked)).not.toContain('my-secret-word');
    await screen.until(/not sent: .*olga has refused it: keep it/);
    screen.press('Enter');
    await screen.until(/(?:waiting for an operator to confirm what was typed[^]*){2}/);
    screen.press('C-c');
    await screen.until(/not sent: .*it was withdrawn/);
    screen.press('Enter');
    await screen.until(/(?:waiting for an operator to confirm what was typed[^]*){3}/);
    await decide('approve');
    await screen.until(/confirmed by olga/);
    screen.type('exit 2');
    screen.press('Enter');
    await screen.until(/\[exit 2\]/);
  });
});
