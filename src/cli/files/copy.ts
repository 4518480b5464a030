import { stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AdapterClient } from '../../client/index.js';
import { hasCode } from '../../client/contract/errors.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { type CopyPlan, undefinedIfMissing } from './copy-plan.js';
import { downloadTree } from './download-files.js';
import { CopyProgress } from './progress.js';
import { uploadTree } from './upload-files.js';

/** What to copy, and where to. */
export interface CopyPaths {
  readonly source: string;
  readonly destination: string;
}

/** Bytes of a request besides the data. */
const OVERHEAD_BYTES = 16 * 1024;
/** Largest part: more is no faster. */
const MAX_PART_BYTES = 1024 * 1024;

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
  await withDaemon(options, context, async (client) => {
    const plan = await planOf(client, context, { isRecursive: recursive, session });
    try {
      if (isUpload) await upload(resolve(context.cwd, source), remotePath(destination), plan);
      else await download(remotePath(source), resolve(context.cwd, destination), plan);
    } finally {
      await plan.progress.end();
    }
  });
}

const remotePath = (text: string): string => (text === REMOTE ? '.' : text.slice(REMOTE.length));

async function planOf(
  client: AdapterClient,
  context: Context,
  { isRecursive, session }: { readonly isRecursive: boolean; readonly session: string | undefined },
): Promise<CopyPlan> {
  const { limits } = await client.metadata();
  const files = session === undefined ? client.files : client.filesOf(session);
  return {
    ask: (request) => patiently(() => request(files)),
    partBytes: Math.max(1, Math.min(MAX_PART_BYTES, limits.max_message_bytes - OVERHEAD_BYTES)),
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
  const { path } = await plan.ask((files) => files.stat(source));
  await downloadTree(source, isDirectory ? join(destination, basename(path)) : destination, plan);
}

/** Repeats a request that was refused because the token had made too many: nothing of it was done. */
async function patiently<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const wait = hasCode(error, 'RATE_LIMITED') ? error.details?.['retry_after_ms'] : undefined;
      if (typeof wait !== 'number') throw error;
      await sleep(wait);
    }
  }
}
