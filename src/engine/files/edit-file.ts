import { AdapterError } from '../../core/errors.js';
import { replaceText } from '../../core/files/edit.js';
import { MAX_DIFF_CHARACTERS, MAX_EDITED_BYTES } from '../../core/files/limits.js';
import { decodeText } from '../../core/files/text-part.js';
import { unifiedDiff } from '../../core/files/unified-diff.js';
import type { FileJobOf, FileResult } from './file-job.js';
import type { HoldPath } from './held-path.js';
import { assertExpected, openFile, readRange, sha256Of } from './open-file.js';
import { ContentCheck } from './write-content.js';
import { replace } from './write-file.js';

/** Replaces an exact text in a file. */
export async function editFile(job: FileJobOf<'edit'>, holdPath: HoldPath): Promise<FileResult<'edit'>> {
  const { at, oldText, newText, all, expected } = job;
  await using held = await holdPath(at);
  const bytes = await readWhole(held.entry, job);
  const content = decodeText(bytes);
  const edit = replaceText(content, oldText, newText, all);
  const { diff, isTruncated } = unifiedDiff(
    { path: at.path, content, oldText, newText, positions: edit.positions },
    MAX_DIFF_CHARACTERS,
  );
  const present = { ...expected, sha256: sha256Of(bytes) };
  const written = await replace(
    held,
    { at, mode: 'overwrite', expected: present, permissions: undefined },
    { content: Buffer.from(edit.content), check: new ContentCheck(undefined) },
  );
  return { ...written, replaced: edit.positions.length, diff, isTruncated };
}

async function readWhole(entry: string, { at, expected }: FileJobOf<'edit'>): Promise<Buffer> {
  await using file = await openFile(entry, at.path);
  const { size } = file.stat;
  if (size > MAX_EDITED_BYTES) {
    throw new AdapterError(
      'FILE_TOO_LARGE',
      `${at.path} has ${size} bytes; at most ${MAX_EDITED_BYTES} can be edited: use a command, such as sed -i`,
      { details: { path: at.path, size, max: MAX_EDITED_BYTES } },
    );
  }
  await assertExpected(file, expected, at.path);
  return await readRange(file.handle, 0, size);
}
