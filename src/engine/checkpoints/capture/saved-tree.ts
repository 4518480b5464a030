import type { Entry } from '../../../core/checkpoints/entry.js';
import type { SavedTree } from '../../../core/checkpoints/restore-plan.js';
import { AdapterError } from '../../../core/errors.js';
import type { Git } from '../git/git.js';
import { attributeReader, type Metadata, METADATA_VERSION } from './metadata.js';
import type { TreeItem } from './tree-writer.js';

/** Reads the entries of a checkpoint, without the contents. */
export async function readSavedTree(git: Git, commit: string): Promise<SavedTree> {
  const [listing, described] = await Promise.all([
    git.run(['ls-tree', '-r', '-t', '-z', `${commit}:files`]),
    git.run(['cat-file', 'blob', `${commit}:metadata`]),
  ]);
  const metadata = JSON.parse(described.toString()) as Metadata;
  if (metadata.version !== METADATA_VERSION) {
    throw new AdapterError('CHECKPOINT_FAILED', 'the checkpoint was made by a later version of the adapter');
  }
  const attributesOf = attributeReader(metadata);
  const entries = new Map<string, Entry>();
  for (const line of listing.toString('latin1').split('\0')) {
    if (line === '') continue;
    const tab = line.indexOf('\t');
    const path = line.slice(tab + 1);
    const [mode = '', , object = ''] = line.slice(0, tab).split(' ');
    const gitMode = mode.replace(/^0/, '') as TreeItem['mode'];
    const kind = KINDS[gitMode];
    entries.set(path, { path, kind, object: kind === 'directory' ? '' : object, ...attributesOf(path, gitMode) });
  }
  return { entries, skipped: metadata.skipped };
}

const KINDS: Readonly<Record<TreeItem['mode'], Entry['kind']>> = {
  '100644': 'file',
  '100755': 'file',
  '120000': 'link',
  '40000': 'directory',
};
