import type { Command } from '../../engine/command/command.js';

/** Waits for a command's end and for its spool, so that the result can report whether the output was kept. */
export async function settled({ finished, stdout, stderr }: Command): Promise<void> {
  await finished;
  const writing = [stdout.flush(), stderr.flush()].filter((promise) => promise !== undefined);
  if (writing.length > 0) await Promise.all(writing);
}
