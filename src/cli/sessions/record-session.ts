import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';

import type { AdapterClient, ClientSession } from '../../client/index.js';
import { randomCommandId } from '../../client/runtime.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { CommandLineError, EXIT, messageOf, UsageError } from '../console/failure.js';
import type { Outcome } from '../run/confirmations.js';
import { printEndNotes } from '../run/exec-hints.js';
import {
  CommandSignals,
  type ExecuteRequest,
  reportCancelled,
  runOnTerminal,
  type TerminalRun,
  whenBroken,
} from '../run/run-command.js';
import { downloadRecording } from './replay-recording.js';

interface RecordedSession extends DaemonOptions {
  readonly title?: string;
  /** Absolute. */
  readonly cwd?: string;
  readonly shell?: string;
  readonly sandbox?: SandboxProfile;
}

/**
 * Opens a recorded session with a shell at this terminal, until it ends; prints the id of the recording.
 * @param path where the recording is saved
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function recordSession(context: Context, options: RecordedSession, path?: string): Promise<void> {
  if (!context.stdin.isTTY || !context.stdout.isTerminal) throw new UsageError('record needs a terminal');
  if (path !== undefined && existsSync(path)) throw new UsageError(`${path} exists already: give another file`);
  const signals = new CommandSignals(context);
  const { columns: cols, rows } = context.stdout.size ?? {};
  const { cwd, shell, sandbox, title: label } = options;
  await withDaemon(options, context, async (client) => {
    const session = await client.openSession({ cols, rows, label, shell, sandbox, cwd, record: true });
    const { recording_id: id } = await session.info();
    const run = { signals, request: shellRequest(context, session) };
    const outcome = await runToEnd(context, client, session, run);
    await conclude(context, client, { id: id ?? '', path });
    if (typeof outcome !== 'number') await printEndNotes(context, outcome);
    context.exitWith(exitCodeOf(outcome));
  });
}

/** Runs the shell on this terminal, and closes its session however it ends. */
async function runToEnd(context: Context, client: AdapterClient, session: ClientSession, run: TerminalRun) {
  try {
    return await runOnTerminal(context, client, session, run);
  } catch (error) {
    return await reportCancelled(context, error);
  } finally {
    await session.close();
  }
}

const shellRequest = ({ stdout }: Context, { shell }: ClientSession): ExecuteRequest => [
  shell,
  {
    commandId: randomCommandId(),
    args: ['-i'],
    tty: true,
    stream: true,
    output: { maxSize: 0 },
    signal: whenBroken(stdout),
  },
];

function exitCodeOf(outcome: Outcome): number {
  if (typeof outcome === 'number') return outcome;
  return outcome.status === 'confirmation_required' ? EXIT.execDenied : (outcome.exit_code ?? EXIT.failed);
}

async function conclude(
  { stdout, stderr }: Context,
  client: AdapterClient,
  { id, path }: { readonly id: string; readonly path: string | undefined },
): Promise<void> {
  await stdout.write(`${id}\n`);
  if (path === undefined) return;
  try {
    await writeFile(path, await downloadRecording(client, id), { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    const hint = `It is still there: shell-adapter recordings --save ${id}`;
    throw new CommandLineError(`not saved: ${messageOf(cause as NodeJS.ErrnoException)}`, { hint, cause });
  }
  await stderr.write(`shell-adapter: saved to ${path}\n`);
}
