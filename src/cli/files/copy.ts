import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

import { assertName } from '../../client/files.js';
import type { AdapterClient } from '../../client/index.js';
import type { DaemonAddress, DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { type CopyPlan, CopyProgress, FileTransfers, patiently, undefinedIfMissing } from './file-transfers.js';
import { downloadTree } from './download-files.js';
import { uploadTree } from './upload-files.js';

/** What to copy, and where to. */
export interface CopyPaths {
  readonly source: string;
  readonly destination: string;
}

const REMOTE = ':';

/**
 * Copies files to the daemon, or from it.
 * @throws UsageError, CommandLineError, ClientError, ConfigurationError
 */
export async function copy(
  context: Context,
  { source, destination }: CopyPaths,
  {
    recursive = false,
    session,
    ...options
  }: DaemonOptions & { readonly recursive?: boolean; readonly session?: string },
): Promise<void> {
  const isUpload = destination.startsWith(REMOTE);
  if (isUpload === source.startsWith(REMOTE)) {
    throw new UsageError('a colon marks the side of the daemon: either the source or the destination needs one', {
      hint: 'For example: shell-adapter cp FILE :  or  shell-adapter cp :FILE .',
    });
  }
  await withDaemon(options, context, async (client, address) => {
    const plan = planOf({ client, address, context, isRecursive: recursive, session });
    try {
      if (isUpload) await upload(resolve(context.cwd, source), remotePath(destination), plan);
      else await download(remotePath(source), resolve(context.cwd, destination), plan);
    } finally {
      plan.transfers.close();
      await plan.progress.end();
    }
  });
}

const remotePath = (text: string): string => (text === REMOTE ? '.' : text.slice(REMOTE.length));

interface Copying {
  readonly client: AdapterClient;
  readonly address: DaemonAddress;
  readonly context: Context;
  readonly isRecursive: boolean;
  readonly session: string | undefined;
}

function planOf({ client, address, context, isRecursive, session }: Copying): CopyPlan {
  const files = session === undefined ? client.files : client.filesOf(session);
  return {
    ask: (request) => patiently(() => request(files)),
    transfers: new FileTransfers(address, session),
    isRecursive,
    progress: new CopyProgress(context.stderr),
    note: (text) => context.stderr.write(`shell-adapter: ${text}\n`),
  };
}

async function upload(source: string, destination: string, plan: CopyPlan): Promise<void> {
  const there = await plan.ask((files) => files.stat(destination)).catch(undefinedIfMissing);
  const target = there?.type === 'directory' ? join(destination, basename(source)) : destination;
  await uploadTree(source, target, plan);
}

async function download(source: string, destination: string, plan: CopyPlan): Promise<void> {
  const isDirectory = await stat(destination).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const found = await plan.ask((files) => files.stat(source));
  const name = basename(found.path);
  assertName(name);
  await downloadTree({ ...found, path: source }, isDirectory ? join(destination, name) : destination, plan);
}
